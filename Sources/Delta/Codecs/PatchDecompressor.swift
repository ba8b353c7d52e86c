/// Decompresses a patch's stream byte by byte, for all codecs except the range coder.
struct PatchDecompressor: PatchBytes {
  private enum State {
    case none
    case crle(CRLEDecoder)
    case heatshrink(HeatshrinkDecoder)
  }

  private var input: PatchInput
  private var state: State
  let codec: PatchCodec

  /// `input` is positioned after the image's size; for heatshrink, the parameters follow there.
  init(_ number: UInt8, _ input: PatchInput) throws(PatchFault) {
    self.input = input
    switch number {
    case 0: (codec, state) = (.none, .none)
    case 2: (codec, state) = (.crle, .crle(CRLEDecoder()))
    case 4:
      let byte = try self.input.next()
      guard let parameters = HeatshrinkParameters(byte: byte) else {
        throw self.input.fault(.heatshrinkParameters(byte))
      }
      (codec, state) = (.heatshrink(parameters), .heatshrink(HeatshrinkDecoder(parameters)))
    default: throw input.fault(.codec(number))
    }
  }

  /// The number of bytes of the patch read so far.
  var bytesRead: Int { input.offset }

  func fault(_ reason: PatchFault.Reason) -> PatchFault { input.fault(reason) }

  mutating func next() throws(PatchFault) -> UInt8 {
    switch state {
    case .none: return try input.next()
    case .crle(var decoder):
      state = .none
      defer { state = .crle(decoder) }
      return try decoder.next(&input)
    case .heatshrink(var decoder):
      state = .none
      defer { state = .heatshrink(decoder) }
      return try decoder.next(&input)
    }
  }

  /// Checks that no data remains: no bytes, no part of a block or reference, and no nonzero bit.
  func finish() throws(PatchFault) {
    switch state {
    case .none: break
    case .crle(let decoder) where !decoder.isAtRest: throw input.fault(.padding)
    case .heatshrink(let decoder) where !decoder.isAtRest: throw input.fault(.padding)
    case .crle, .heatshrink: break
    }
    guard input.left == 0 else { throw input.fault(.bytesBehindEnd(input.left)) }
  }
}

/// The bytes of one patch, and their offset in the stream.
struct PatchInput: PatchBytes {
  private let bytes: ArraySlice<UInt8>
  private var index: Int
  /// The offset of the first byte, for faults.
  private let start: Int

  init(_ bytes: ArraySlice<UInt8>, startingAt start: Int = 0) {
    self.bytes = bytes
    self.start = start
    index = bytes.startIndex
  }

  var offset: Int { start + index - bytes.startIndex }
  var left: Int { bytes.endIndex - index }

  mutating func next() throws(PatchFault) -> UInt8 {
    guard index < bytes.endIndex else { throw PatchFault(.cutOff, at: offset) }
    defer { index += 1 }
    return bytes[index]
  }

  func fault(_ reason: PatchFault.Reason) -> PatchFault {
    PatchFault(reason, at: max(0, offset - 1))
  }
}

/// Decodes CRLE: blocks of kind, length, and bytes or one repeated byte.
struct CRLEDecoder {
  private var left = 0
  private var repeating: UInt8?

  var isAtRest: Bool { left == 0 }

  mutating func next(_ input: inout PatchInput) throws(PatchFault) -> UInt8 {
    while left == 0 { try begin(&input) }
    left -= 1
    if let repeating { return repeating }
    return try input.next()
  }

  private mutating func begin(_ input: inout PatchInput) throws(PatchFault) {
    let kind = try input.next()
    guard kind <= CRLEEncoder.repeated else { throw input.fault(.blockKind(kind)) }
    var byte: UInt8
    var shift = 0
    var length = 0
    repeat {
      byte = try input.next()
      guard shift < 31 else { throw input.fault(.numberTooLong) }
      length |= Int(byte & 0x7F) << shift
      guard length <= PatchNumber.maximum else { throw input.fault(.numberTooLong) }
      shift += 7
    } while byte & 0x80 != 0
    repeating = kind == CRLEEncoder.repeated ? try input.next() : nil
    left = length
  }
}

/// Decodes heatshrink bit by bit, from a window of zeros.
struct HeatshrinkDecoder {
  private let parameters: HeatshrinkParameters
  private var window: [UInt8]
  private var head = 0
  private var bits: UInt32 = 0
  private var bitCount = 0
  private var copyLeft = 0
  private var distance = 0

  init(_ parameters: HeatshrinkParameters) {
    self.parameters = parameters
    window = [UInt8](repeating: 0, count: parameters.reach)
  }

  /// Whether the decoder is between tokens, and less than a byte of zeros is left.
  var isAtRest: Bool { copyLeft == 0 && bitCount < 8 && bits == 0 }

  mutating func next(_ input: inout PatchInput) throws(PatchFault) -> UInt8 {
    if copyLeft == 0 {
      if try take(1, &input) == 1 { return keep(UInt8(try take(8, &input))) }
      distance = Int(try take(parameters.window, &input)) + 1
      copyLeft = Int(try take(parameters.lookahead, &input)) + 1
    }
    copyLeft -= 1
    return keep(window[(head - distance) & (parameters.reach - 1)])
  }

  private mutating func keep(_ byte: UInt8) -> UInt8 {
    window[head & (parameters.reach - 1)] = byte
    head += 1
    return byte
  }

  /// The next 1…16 bits.
  private mutating func take(_ count: Int, _ input: inout PatchInput) throws(PatchFault) -> UInt32 {
    while bitCount < count {
      bits = bits << 8 | UInt32(try input.next())
      bitCount += 8
    }
    bitCount -= count
    let value = bits >> UInt32(bitCount)
    bits &= 1 << UInt32(bitCount) - 1
    return value
  }
}
