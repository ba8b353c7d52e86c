/// The compression of a patch's stream.
package enum PatchCodec: Hashable, Sendable {
  case none
  /// Run-length encoding: runs of one byte are counted, other bytes are unchanged.
  case crle
  case heatshrink(HeatshrinkParameters)
  /// Format 2 with heatshrink.
  case mapped(HeatshrinkParameters)
  /// Format 2 with the range coder.
  case range

  /// Bits 6 to 4 of the first byte of a patch of format 2.
  static let mappedType: UInt8 = 4

  /// Whether patches are of format 2, which otaflash defines.
  package var isMapped: Bool {
    switch self {
    case .none, .crle, .heatshrink: false
    case .mapped, .range: true
    }
  }

  /// A patch's first byte.
  package var number: UInt8 {
    switch self {
    case .none: 0
    case .crle: 2
    case .heatshrink: 4
    case .mapped: Self.mappedType << 4 | 4
    case .range: Self.mappedType << 4 | 8
    }
  }

  /// The number of bytes that a decoder must store for references.
  var reach: Int {
    switch self {
    case .heatshrink(let parameters), .mapped(let parameters): parameters.reach
    case .none, .crle, .range: 0
    }
  }

  /// Returns the shortest encoding of `stream` with this codec; `.none` leaves the stream
  /// unchanged. The range coder has a separate encoder. Only heatshrink uses `index`, which may be
  /// for a larger window.
  func compress(_ stream: [UInt8], index: StreamIndex?) -> [UInt8] {
    switch self {
    case .none, .range: stream
    case .crle: CRLEEncoder.encode(stream)
    case .heatshrink(let parameters), .mapped(let parameters):
      HeatshrinkEncoder(parameters).encode(
        stream, index: index ?? StreamIndex(stream, reach: parameters.reach))
    }
  }
}

extension PatchCodec: CustomStringConvertible {
  package var description: String {
    switch self {
    case .none: "none"
    case .crle: "crle"
    case .heatshrink(let parameters): "heatshrink \(parameters.window),\(parameters.lookahead)"
    case .mapped(let parameters):
      "format 2, heatshrink \(parameters.window),\(parameters.lookahead)"
    case .range: "format 2, range coder"
    }
  }
}

/// The two parameters of a heatshrink stream (its first byte in a patch).
package struct HeatshrinkParameters: Hashable, Sendable {
  /// The maximum distance of references is 2^window bytes; the decoder needs as many bytes of RAM.
  /// 4…14, because heatshrink's encoder fails at 15.
  package let window: Int
  /// The maximum length of references is 2^lookahead bytes. 3 to `window` - 1.
  package let lookahead: Int

  /// Returns `nil` if heatshrink does not permit the values.
  package init?(window: Int, lookahead: Int) {
    guard (4...14).contains(window), (3..<window).contains(lookahead) else { return nil }
    self.window = window
    self.lookahead = lookahead
  }

  init?(byte: UInt8) {
    self.init(window: Int(byte >> 4) + 4, lookahead: Int(byte & 15) + 3)
  }

  var byte: UInt8 { UInt8(window - 4) << 4 | UInt8(lookahead - 3) }
  /// The maximum distance of a reference in bytes.
  var reach: Int { 1 << window }
  /// The maximum length of a reference in bytes.
  var longest: Int { 1 << lookahead }
  static let literalBits = 9
  var referenceBits: Int { 1 + window + lookahead }
}
