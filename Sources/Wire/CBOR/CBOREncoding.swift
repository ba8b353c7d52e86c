extension CBORItem {
  /// The item in its deterministic encoding (RFC 8949, 4.2.1): shortest heads and floats, definite
  /// lengths, keys in bytewise order.
  package var encoded: [UInt8] {
    var writer = CBORWriter()
    writer.write(self)
    return writer.bytes
  }
}

private struct CBORWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ item: CBORItem) {
    switch item {
    case .unsigned(let value): head(.unsigned, value)
    case .negative(let value): head(.negative, value)
    case .bytes(let string):
      head(.bytes, UInt64(string.count))
      bytes += string
    case .text(let text):
      head(.text, UInt64(text.utf8.count))
      bytes += text.utf8
    case .array(let elements):
      head(.array, UInt64(elements.count))
      for element in elements { write(element) }
    case .map(let map): write(map)
    case .boolean(let value): head(.simpleOrFloat, value ? 21 : 20)
    case .null: head(.simpleOrFloat, 22)
    case .undefined: head(.simpleOrFloat, 23)
    case .simple(let value): head(.simpleOrFloat, UInt64(value))
    case .float(let value): write(value)
    }
  }

  private mutating func write(_ map: CBORMap) {
    head(.map, UInt64(map.pairs.count))
    let sorted = map.pairs.map { (key: $0.key.encoded, value: $0.value) }
      .sorted { $0.key.lexicographicallyPrecedes($1.key) }
    for pair in sorted {
      bytes += pair.key
      write(pair.value)
    }
  }

  /// Writes the shortest of the three formats that represents the value exactly.
  private mutating func write(_ value: Double) {
    if let half = value.halfPrecision {
      initial(.simpleOrFloat, 25)
      bigEndian(UInt64(half), size: 2)
    } else if Double(Float(value)) == value {
      initial(.simpleOrFloat, 26)
      bigEndian(UInt64(Float(value).bitPattern), size: 4)
    } else {
      initial(.simpleOrFloat, 27)
      bigEndian(value.bitPattern, size: 8)
    }
  }

  private mutating func head(_ type: CBORMajorType, _ argument: UInt64) {
    switch argument {
    case 0..<24: initial(type, UInt8(argument))
    case 24...0xFF:
      initial(type, 24)
      bigEndian(argument, size: 1)
    case 0x100...0xFFFF:
      initial(type, 25)
      bigEndian(argument, size: 2)
    case 0x1_0000...0xFFFF_FFFF:
      initial(type, 26)
      bigEndian(argument, size: 4)
    default:
      initial(type, 27)
      bigEndian(argument, size: 8)
    }
  }

  private mutating func initial(_ type: CBORMajorType, _ information: UInt8) {
    bytes.append(type.rawValue << 5 | information)
  }

  private mutating func bigEndian(_ value: UInt64, size: Int) {
    for shift in stride(from: (size - 1) * 8, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
    }
  }
}
