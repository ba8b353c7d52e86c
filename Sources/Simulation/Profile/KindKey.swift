/// A key that only one kind of device supports.
struct KindKey<Settings>: Sendable {
  let key: String
  /// A short description for the help.
  let summary: String
  /// The description of the allowed values.
  let allowed: String
  /// Changes the setting; returns `false` if the value is not allowed.
  let apply: @Sendable (String, inout Settings) -> Bool

  init(
    _ key: String, _ summary: String, _ allowed: String,
    _ apply: @escaping @Sendable (String, inout Settings) -> Bool
  ) {
    (self.key, self.summary, self.allowed, self.apply) = (key, summary, allowed, apply)
  }

  /// Creates a key whose value `read` parses; `read` returns `nil` if the value is not allowed.
  init<Value>(
    _ key: String, _ summary: String, _ allowed: String,
    _ field: WritableKeyPath<Settings, Value> & Sendable,
    _ read: @escaping @Sendable (String) -> Value?
  ) {
    self.init(key, summary, allowed) { text, settings in
      guard let value = read(text) else { return false }
      settings[keyPath: field] = value
      return true
    }
  }

  /// Creates a key whose value is one of the names of an enumeration.
  init<Value: RawRepresentable & CaseIterable & Sendable>(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Value> & Sendable
  ) where Value.RawValue == String {
    let names = Value.allCases.map(\.rawValue)
    let allowed = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    self.init(key, summary, allowed, field) { Value(rawValue: $0) }
  }

  /// Creates a key whose value is `yes` or `no`.
  init(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Bool> & Sendable
  ) {
    self.init(key, summary, "yes or no", field) { ["yes": true, "no": false][$0] }
  }
}

/// The description of a key that only one kind of device supports.
package struct KindKeyListing: Hashable, Sendable {
  package let key: String
  package let summary: String
  /// The description of the allowed values.
  package let allowed: String
}
