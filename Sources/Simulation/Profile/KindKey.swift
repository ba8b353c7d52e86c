/// A key that one kind of device adds to those of all profiles.
struct KindKey<Settings>: Sendable {
  let key: String
  /// A clause for a person who chooses.
  let summary: String
  /// What a value must look like.
  let allowed: String
  /// Sets the value; `false` when it is not allowed.
  let apply: @Sendable (String, inout Settings) -> Bool

  init(
    _ key: String, _ summary: String, _ allowed: String,
    _ apply: @escaping @Sendable (String, inout Settings) -> Bool
  ) {
    (self.key, self.summary, self.allowed, self.apply) = (key, summary, allowed, apply)
  }

  /// A key whose value `read` makes of the text, or `nil` when it is not allowed.
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

  /// A key whose value is one of the names of an enumeration.
  init<Value: RawRepresentable & CaseIterable & Sendable>(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Value> & Sendable
  ) where Value.RawValue == String {
    let names = Value.allCases.map(\.rawValue)
    let allowed = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    self.init(key, summary, allowed, field) { Value(rawValue: $0) }
  }

  /// A key whose value is `yes` or `no`.
  init(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Bool> & Sendable
  ) {
    self.init(key, summary, "yes or no", field) { ["yes": true, "no": false][$0] }
  }
}

/// What a person is told of a key that one kind of device has.
package struct KindKeyListing: Hashable, Sendable {
  package let key: String
  package let summary: String
  /// What a value must look like.
  package let allowed: String
}
