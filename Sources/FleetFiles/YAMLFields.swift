#if Fleet
import Yams

/// The fields of a mapping. A mistake in a field is recorded and the field counts as missing, so
/// that the other fields are still read.
struct YAMLFields {
  let place: FilePlace
  let mistakes: MistakeList
  /// Whether to report missing keys: only if the node is a mapping without unknown keys.
  let isComplete: Bool
  private let known: [String]
  private let values: [String: Node]
  private let places: [String: FilePlace]

  /// - Parameters:
  ///   - node: a mapping.
  ///   - what: the name of the mapping, for faults.
  ///   - known: all permitted keys.
  init(_ node: Node, of what: String, known: [String], _ mistakes: MistakeList) {
    (place, self.known, self.mistakes) = (node.place, known, mistakes)
    var (values, places): ([String: Node], [String: FilePlace]) = ([:], [:])
    guard case .mapping(let mapping) = node else {
      mistakes.note(at: node.place, "write \(what) as 'key: value'")
      (self.values, self.places, isComplete) = (values, places, false)
      return
    }
    var hasUnknown = false
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard known.contains(name) else {
        hasUnknown = true
        let hint = NameSuggestion.words(for: name, among: known)
        mistakes.note(
          at: key.place,
          "\(what) has no key '\(name)'"
            + (hint.isEmpty ? "; its keys are \(Self.list(known))" : hint))
        continue
      }
      values[name] = value
      places[name] = key.place
    }
    (self.values, self.places, isComplete) = (values, places, !hasUnknown)
  }

  private static func list(_ names: [String]) -> String { names.joined(separator: ", ") }

  subscript(_ key: String) -> Node? {
    precondition(known.contains(key), "'\(key)' is a known key")
    return values[key]
  }

  /// Returns the position of a key; for a missing key, the start of the mapping.
  func place(of key: String) -> FilePlace { places[key] ?? place }

  /// Returns the position of the value of a key.
  func placeOfValue(_ key: String) -> FilePlace { self[key]?.place ?? place(of: key) }

  /// Returns the fields of a key whose value is a mapping.
  func fields(_ key: String, of what: String, known: [String]) -> YAMLFields? {
    self[key].map { YAMLFields($0, of: what, known: known, mistakes) }
  }

  func text(_ key: String) -> String? {
    guard let node = self[key] else { return nil }
    return mistakes.attempt { () throws(CampaignFileFault) in try node.text(of: key) }
  }

  func list(_ key: String) -> [Node] {
    guard let node = self[key] else { return [] }
    return mistakes.attempt { () throws(CampaignFileFault) in try node.list(of: key) } ?? []
  }

  func texts(_ key: String) -> [String]? {
    guard let node = self[key] else { return nil }
    return mistakes.attempt { () throws(CampaignFileFault) in try node.texts(of: key) }
  }

  /// Returns the tags for `select`. A tag that contains a comma is a mistake, because the comma
  /// indicates several tags.
  func tags() -> Set<String> {
    var tags: Set<String> = []
    for node in list("tags") {
      let text = mistakes.attempt { () throws(CampaignFileFault) in try node.text(of: "a tag") }
      guard let text else { continue }
      guard !text.contains(",") else {
        let several = text.split(separator: ",").joined(separator: ", ")
        mistakes.note(
          at: node.place, "a tag cannot contain a comma; write several tags as [\(several)]")
        continue
      }
      tags.insert(text)
    }
    return tags
  }

  /// Returns a whole number.
  ///
  /// - Parameter range: the permitted range.
  func whole(_ key: String, in range: ClosedRange<Int>) -> Int? {
    let words = "a whole number, \(range.lowerBound) to \(range.upperBound)"
    guard let value = whole(key, words) else { return nil }
    guard range.contains(value) else {
      mistakes.note(
        at: placeOfValue(key),
        "\(key) is \(value); the permitted range is \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return value
  }

  func whole(_ key: String, _ what: String = "a whole number") -> Int? {
    read(key, what) { $0.allSatisfy(\.isASCII) ? Int($0) : nil }
  }

  func truth(_ key: String) -> Bool? {
    read(key, "true or false") { ["true": true, "false": false][$0] }
  }

  func duration(_ key: String) -> Duration? {
    read(key, "a time with its unit, such as 500ms, 30s, 10m or 2h") { Duration(spelled: $0) }
  }

  func percent(_ key: String) -> Int? {
    read(key, "a share, such as 90%") { Int(percent: $0) }
  }

  /// Returns the value that `body` creates from a string.
  func read<Value>(_ key: String, _ what: String, _ body: (String) -> Value?) -> Value? {
    guard let node = self[key], let text = text(key) else { return nil }
    guard let value = body(text) else {
      mistakes.note(at: node.place, "'\(text)' is not a valid \(key); expected \(what)")
      return nil
    }
    return value
  }

  /// Returns a case of an enumeration.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Value.Type
  ) -> Value? where Value.RawValue == String {
    let names = Value.allCases.map(\.rawValue).joined(separator: " or ")
    return read(key, names) { Value(rawValue: $0) }
  }
}

extension Node {
  /// Returns a non-empty scalar.
  func text(of what: String) throws(CampaignFileFault) -> String {
    guard case .scalar(let scalar) = self else {
      throw CampaignFileFault(at: place, "\(what) must be a string")
    }
    guard !scalar.string.isEmpty else {
      throw CampaignFileFault(at: place, "\(what) is empty")
    }
    return scalar.string
  }

  /// Returns a non-empty list.
  func list(of what: String) throws(CampaignFileFault) -> [Node] {
    guard case .sequence(let sequence) = self else {
      throw CampaignFileFault(at: place, "\(what) must be a list")
    }
    guard !sequence.isEmpty else { throw CampaignFileFault(at: place, "\(what) is empty") }
    return Array(sequence)
  }

  func texts(of what: String) throws(CampaignFileFault) -> [String] {
    var texts: [String] = []
    for node in try list(of: what) { texts.append(try node.text(of: what)) }
    return texts
  }
}

extension Duration {
  private static let units: [(suffix: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  /// The maximum duration in milliseconds: 366 days.
  private static let spelledMaximum: Int64 = 366 * 86_400_000

  /// Parses `500ms`, `30s`, `10m`, `2h` or `2d`, at most 366 days.
  init?(spelled text: String) {
    for (suffix, scale) in Self.units where text.hasSuffix(suffix) {
      let digits = text.dropLast(suffix.count)
      guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }) else { continue }
      guard let count = Int64(digits), count <= Self.spelledMaximum / scale else { return nil }
      self = .milliseconds(count * scale)
      return
    }
    return nil
  }
}

extension Int {
  /// Parses `90%`, 0…100.
  init?(percent text: String) {
    let digits = text.dropLast()
    guard text.hasSuffix("%"), !digits.isEmpty,
      digits.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(digits), value <= 100
    else { return nil }
    self = value
  }
}
#endif
