#if Sites
/// The values of a query or of a form (application/x-www-form-urlencoded).
struct FormValues: Sendable {
  /// The maximum number of values.
  private static let maximum = 1000

  private var values: [String: [String]] = [:]
  /// Whether empty values are kept.
  private var isStrict = false

  /// Creates a list without values.
  init() {}

  /// Decodes values; returns `nil` if the encoding is not valid, or there are too many values.
  ///
  /// - Parameter isStrict: whether empty values are kept, and repeated names are not valid. Forms
  ///   send empty values for fields without input.
  init?(encoded text: some StringProtocol, isStrict: Bool = false) {
    self.isStrict = isStrict
    let parts = text.split(separator: "&")
    guard parts.count <= Self.maximum else { return nil }
    for part in parts {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Address.decoded(pair[0], isForm: true),
        let value = Address.decoded(pair.count > 1 ? pair[1] : "", isForm: true)
      else { return nil }
      guard !isStrict || values[name] == nil else { return nil }
      values[name, default: []].append(value)
    }
  }

  /// The first value with a name. Unless `isStrict` is true, an empty value counts as missing.
  subscript(name: String) -> String? {
    guard let value = values[name]?.first, isStrict || !value.isEmpty else { return nil }
    return value
  }

  mutating func add(_ name: String, _ value: String) { values[name, default: []].append(value) }

  func all(_ name: String) -> [String] { values[name] ?? [] }
}
#endif
