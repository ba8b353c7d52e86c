#if Fleet
import Yams

/// The fields of a mapping. Whoever has taken all that he knows asks `finish` whether there were
/// others.
struct YAMLFields {
  let place: FilePlace
  private let known: [String]
  private let values: [String: Node]
  private let places: [String: FilePlace]

  /// - Parameters:
  ///   - node: a mapping.
  ///   - what: it is, for the fault.
  ///   - known: every key that it may have.
  init(_ node: Node, of what: String, known: [String]) throws(CampaignFileFault) {
    guard case .mapping(let mapping) = node else {
      throw CampaignFileFault(at: node.place, "\(what) is written as 'key: value'")
    }
    place = node.place
    self.known = known
    var (values, places): ([String: Node], [String: FilePlace]) = ([:], [:])
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard known.contains(name) else {
        throw CampaignFileFault(
          at: key.place,
          "\(what) has no '\(name)'; it has \(known.joined(separator: ", "))")
      }
      values[name] = value
      places[name] = key.place
    }
    self.values = values
    self.places = places
  }

  subscript(_ key: String) -> Node? {
    precondition(known.contains(key), "'\(key)' is a key of it")
    return values[key]
  }

  /// Where a key stands; the mapping's beginning for one that is not there.
  func place(of key: String) -> FilePlace { places[key] ?? place }

  func text(_ key: String) throws(CampaignFileFault) -> String? {
    guard let node = self[key] else { return nil }
    return try node.text(of: key)
  }

  func whole(_ key: String) throws(CampaignFileFault) -> Int? {
    try read(key, "a whole number") { $0.allSatisfy(\.isASCII) ? Int($0) : nil }
  }

  func truth(_ key: String) throws(CampaignFileFault) -> Bool? {
    try read(key, "true or false") { ["true": true, "false": false][$0] }
  }

  func duration(_ key: String) throws(CampaignFileFault) -> Duration? {
    try read(key, "a time with its unit, such as 500ms, 30s, 10m or 2h") { Duration(spelled: $0) }
  }

  func percent(_ key: String) throws(CampaignFileFault) -> Int? {
    try read(key, "a share, such as 90%") { Int(percent: $0) }
  }

  /// A text that `body` makes a value of.
  func read<Value>(
    _ key: String, _ what: String, _ body: (String) -> Value?
  ) throws(CampaignFileFault) -> Value? {
    guard let node = self[key] else { return nil }
    let text = try node.text(of: key)
    guard let value = body(text) else {
      throw CampaignFileFault(at: node.place, "'\(text)' is no \(key); it is \(what)")
    }
    return value
  }

  /// One of the names of an enumeration.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ key: String, _ type: Value.Type
  ) throws(CampaignFileFault) -> Value? where Value.RawValue == String {
    let names = Value.allCases.map(\.rawValue).joined(separator: " or ")
    return try read(key, names) { Value(rawValue: $0) }
  }
}

extension Node {
  /// A scalar that is not empty.
  func text(of what: String) throws(CampaignFileFault) -> String {
    guard case .scalar(let scalar) = self else {
      throw CampaignFileFault(at: place, "\(what) is a text")
    }
    guard !scalar.string.isEmpty else {
      throw CampaignFileFault(at: place, "\(what) is empty")
    }
    return scalar.string
  }

  /// A list of at least one.
  func list(of what: String) throws(CampaignFileFault) -> [Node] {
    guard case .sequence(let sequence) = self else {
      throw CampaignFileFault(at: place, "\(what) is a list")
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
  /// A year.
  private static let spelledMaximum: Int64 = 366 * 86_400_000

  /// Reads `500ms`, `30s`, `10m`, `2h` or `2d`, up to a year.
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
  /// Reads `90%`, 0…100.
  init?(percent text: String) {
    let digits = text.dropLast()
    guard text.hasSuffix("%"), !digits.isEmpty,
      digits.allSatisfy({ $0.isASCII && $0.isNumber }), let value = Int(digits), value <= 100
    else { return nil }
    self = value
  }
}
#endif
