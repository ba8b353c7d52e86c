import OtaflashWire

extension CBORItem {
  /// The encoded item, with maps and lists of indefinite length (RFC 8949, 3.2.2) in the order of
  /// their entries.
  var encodedIndefinitely: [UInt8] {
    switch self {
    case .map(let map):
      [0xBF] + map.pairs.flatMap(\.encodedIndefinitely) + [0xFF]
    case .array(let items): [0x9F] + items.flatMap(\.encodedIndefinitely) + [0xFF]
    case .unsigned, .negative, .bytes, .text, .boolean, .null, .undefined, .simple, .float: encoded
    }
  }
}

extension CBORMap.Pair {
  fileprivate var encodedIndefinitely: [UInt8] { key.encoded + value.encodedIndefinitely }
}
