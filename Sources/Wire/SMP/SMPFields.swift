/// The named fields of an SMP body. Unknown fields are ignored, because servers may add fields.
package struct SMPFields: Sendable {
  private let map: CBORMap
  /// The prefix of field names in messages, such as `err.` for the fields of the map `err`.
  private let prefix: String

  package init(_ map: CBORMap, within prefix: String = "") {
    self.map = map
    self.prefix = prefix
  }

  /// Returns an optional field; `nil` if the field is absent or `null`.
  package func value<Value: SMPFieldValue>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(SMPDecodeFault) -> Value? {
    switch map[name] {
    case nil, .null: return nil
    case .some(let item):
      guard let value = Value(item) else {
        throw .wrongKind(prefix + name, expected: Value.kind)
      }
      return value
    }
  }

  /// Returns a required field.
  package func required<Value: SMPFieldValue>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(SMPDecodeFault) -> Value {
    guard let value = try value(name, of: type) else { throw .missing(prefix + name) }
    return value
  }

  /// Returns the fields of a map; `nil` if the map is absent.
  package func fields(_ name: String) throws(SMPDecodeFault) -> SMPFields? {
    try value(name, of: CBORMap.self).map { SMPFields($0, within: prefix + name + ".") }
  }

  /// Returns the fields of a map in order; `nil` if the map is absent. Throws if a name is not a
  /// text, or if a value does not have this type.
  package func named<Value: SMPFieldValue>(
    _ name: String, of type: Value.Type = Value.self
  ) throws(SMPDecodeFault) -> [(name: String, value: Value)]? {
    guard let map = try value(name, of: CBORMap.self) else { return nil }
    var fields: [(name: String, value: Value)] = []
    for pair in map.pairs {
      guard case .text(let key) = pair.key else {
        throw .wrongKind(prefix + name, expected: "a map with texts as keys")
      }
      guard let value = Value(pair.value) else {
        throw .wrongKind("\(prefix)\(name).\(key)", expected: Value.kind)
      }
      fields.append((key, value))
    }
    return fields
  }

  /// Returns a list of texts; `nil` if the list is absent.
  package func texts(_ name: String) throws(SMPDecodeFault) -> [String]? {
    guard let item = map[name], item != .null else { return nil }
    guard case .array(let items) = item else {
      throw .wrongKind(prefix + name, expected: "a list")
    }
    var texts: [String] = []
    for (index, item) in items.enumerated() {
      guard case .text(let text) = item else {
        throw .wrongKind("\(prefix)\(name)[\(index)]", expected: String.kind)
      }
      texts.append(text)
    }
    return texts
  }

  /// Returns a list of maps, each decoded by `element`; `nil` if the list is absent.
  package func list<Element>(
    _ name: String, _ element: (SMPFields) throws(SMPDecodeFault) -> Element
  ) throws(SMPDecodeFault) -> [Element]? {
    let items: [CBORItem]
    switch map[name] {
    case nil, .null: return nil
    case .array(let found): items = found
    case .some: throw .wrongKind(prefix + name, expected: "a list")
    }
    var elements: [Element] = []
    for (index, item) in items.enumerated() {
      let place = "\(prefix)\(name)[\(index)]"
      guard case .map(let map) = item else {
        throw .wrongKind(place, expected: CBORMap.kind)
      }
      elements.append(try element(SMPFields(map, within: place + ".")))
    }
    return elements
  }
}

/// A type that a field can have.
package protocol SMPFieldValue {
  /// The name of the type with an article, used in messages.
  static var kind: String { get }
  init?(_ item: CBORItem)
}

/// A size, an offset or a count: in SMP at most 32 bits, never negative.
extension Int: SMPFieldValue {
  package static var kind: String { "a number from 0 to \(UInt32.max)" }

  package init?(_ item: CBORItem) {
    guard case .unsigned(let value) = item, value <= UInt32.max else { return nil }
    self.init(value)
  }
}

/// A counter or a checksum.
extension UInt64: SMPFieldValue {
  package static var kind: String { "a number of 64 bits" }

  package init?(_ item: CBORItem) {
    guard case .unsigned(let value) = item else { return nil }
    self = value
  }
}

/// A code, which may be negative.
extension Int32: SMPFieldValue {
  package static var kind: String { "a number of 32 bits" }

  package init?(_ item: CBORItem) {
    switch item {
    case .unsigned(let value): self.init(exactly: value)
    case .negative(let value) where value <= Int32.max: self = ~Int32(value)
    default: return nil
    }
  }
}

extension Bool: SMPFieldValue {
  package static var kind: String { "true or false" }

  package init?(_ item: CBORItem) {
    guard case .boolean(let value) = item else { return nil }
    self = value
  }
}

extension String: SMPFieldValue {
  package static var kind: String { "a text" }

  package init?(_ item: CBORItem) {
    guard case .text(let value) = item else { return nil }
    self = value
  }
}

extension [UInt8]: SMPFieldValue {
  package static var kind: String { "a string of bytes" }

  package init?(_ item: CBORItem) {
    guard case .bytes(let value) = item else { return nil }
    self = value
  }
}

extension CBORMap: SMPFieldValue {
  package static var kind: String { "a map" }

  package init?(_ item: CBORItem) {
    guard case .map(let value) = item else { return nil }
    self = value
  }
}
