/// How the stream of a patch is compressed, with detools' numbers.
package enum PatchCodec: Hashable, Sendable {
  case none
  /// Runs of one byte are counted, all else stays.
  case crle
  case heatshrink(HeatshrinkParameters)

  /// Bits 3 to 0 of a patch's first byte.
  package var number: UInt8 {
    switch self {
    case .none: 0
    case .crle: 2
    case .heatshrink: 4
    }
  }

  /// Bytes that a decoder must be able to look back.
  var reach: Int {
    if case .heatshrink(let parameters) = self { parameters.reach } else { 0 }
  }

  /// The compressed stream. Of all that this codec can write, it is the shortest. `index` is of use
  /// for heatshrink only, and may be made for a larger window.
  func compress(_ stream: [UInt8], index: StreamIndex?) -> [UInt8] {
    switch self {
    case .none: stream
    case .crle: CRLEEncoder.encode(stream)
    case .heatshrink(let parameters):
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
    }
  }
}

/// The two numbers of a heatshrink stream (its first byte in a patch).
package struct HeatshrinkParameters: Hashable, Sendable {
  /// References reach back 2^window bytes; the decoder has as many in RAM. 4…14: heatshrink's own
  /// encoder fails at 15.
  package let window: Int
  /// References have at most 2^lookahead bytes. 3 to one less than `window`.
  package let lookahead: Int

  /// Nil where heatshrink does not permit them.
  package init?(window: Int, lookahead: Int) {
    guard (4...14).contains(window), (3..<window).contains(lookahead) else { return nil }
    self.window = window
    self.lookahead = lookahead
  }

  init?(byte: UInt8) {
    self.init(window: Int(byte >> 4) + 4, lookahead: Int(byte & 15) + 3)
  }

  var byte: UInt8 { UInt8(window - 4) << 4 | UInt8(lookahead - 3) }
  /// Bytes that a reference can reach back.
  var reach: Int { 1 << window }
  /// Bytes of the longest reference.
  var longest: Int { 1 << lookahead }
  static let literalBits = 9
  var referenceBits: Int { 1 + window + lookahead }
}
