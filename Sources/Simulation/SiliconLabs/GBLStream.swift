import OtaflashFirmware

/// The parser of a bootloader, which receives a GBL file in pieces of any length (gecko_sdk,
/// `platform/bootloader/parser/gbl`). It is independent of the host's decoder.
struct GBLStream: Sendable {
  enum Fault: Error, Equatable, Sendable {
    /// An unknown, repeated or misplaced tag, or a wrong length.
    case malformed
    /// The CRC32 of the file is wrong, or a required signature is missing.
    case rejected
  }

  /// A part of the program, with its address.
  struct Part: Equatable, Sendable {
    let address: UInt32
    let bytes: [UInt8]
  }

  private enum Tag {
    static let header: UInt32 = 0x03A6_17EB
    static let signature: UInt32 = 0xF70A_0AF7
    static let program: UInt32 = 0xFE01_01FE
    static let eraseAndProgram: UInt32 = 0xFD03_03FD
    static let end: UInt32 = 0xFC04_04FC
  }

  /// The tags that a loader accepts, with their positions in the order; a tag with an odd position
  /// occurs at most once.
  private static let positions: [UInt32: Int] = [
    Tag.header: 1, 0x76A6_17EB: 2, 0xFA06_06FA: 3, 0xF40A_0AF4: 5, 0x5EA6_17EB: 7, 0xF509_09F5: 9,
    Tag.program: 10, Tag.eraseAndProgram: 10, 0xFD05_05FD: 10, 0xFD07_07FD: 10, 0xF608_08F6: 10,
    0xF907_07F9: 12, 0xF30B_0BF3: 13, Tag.signature: 15, Tag.end: 17,
  ]
  private static let tagHeader = 8

  private let requiresSignature: Bool
  private var isSigned = false
  private var crc = CRC32()
  private var position = 0
  private var tag: UInt32 = 0
  /// The bytes of the current tag that are still missing; `nil` = a tag header follows.
  private var left: Int?
  /// Bytes that are too few to be processed.
  private var held: [UInt8] = []
  private var address: UInt32 = 0
  /// Whether the file is complete and correct.
  private(set) var isComplete = false

  init(requiresSignature: Bool) { self.requiresSignature = requiresSignature }

  /// Processes a piece of the file. Returns the parts of the program in it.
  mutating func take(_ bytes: [UInt8]) throws(Fault) -> [Part] {
    var parts: [Part] = []
    held += bytes
    while !held.isEmpty {
      guard !isComplete else { throw .malformed }
      if let part = try step() { parts.append(part) } else if isStuck { break }
    }
    return parts
  }

  /// Whether the held bytes are too few for the next step.
  private var isStuck: Bool {
    guard let left else { return held.count < Self.tagHeader }
    if left == 0 { return false }
    switch tag {
    case Tag.program, Tag.eraseAndProgram: return held.count < min(left, 4)
    case Tag.header, Tag.end: return held.count < left
    default: return false
    }
  }

  private mutating func step() throws(Fault) -> Part? {
    guard !isStuck else { return nil }
    guard let left else {
      try openTag()
      return nil
    }
    guard left > 0 else {
      self.left = nil
      return nil
    }
    switch tag {
    case Tag.header:
      let payload = consume(left)
      guard payload.littleEndianWord(at: 0) == 0x0300_0000 else { throw .malformed }
    case Tag.end: try close()
    case Tag.program, Tag.eraseAndProgram: return program(left)
    default: _ = consume(min(left, held.count))
    }
    return nil
  }

  private mutating func openTag() throws(Fault) {
    let header = Array(held.prefix(Self.tagHeader))
    let id = header.littleEndianWord(at: 0)
    let length = Int(header.littleEndianWord(at: 4))
    guard let next = Self.positions[id], next >= position,
      next != position || next.isMultiple(of: 2), position > 0 || id == Tag.header
    else { throw .malformed }
    let isWrong =
      switch id {
      case Tag.header: length != 8
      case Tag.end: length != 4
      case Tag.program, Tag.eraseAndProgram: length < 4
      case Tag.signature: length != 64
      default: false
      }
    guard !isWrong else { throw .malformed }
    crc.update(header)
    held.removeFirst(Self.tagHeader)
    (tag, position, left) = (id, next, length)
    if id == Tag.signature { isSigned = true }
    isAddressDue = true
  }

  /// Whether the address of a program tag is still missing.
  private var isAddressDue = false

  private mutating func program(_ left: Int) -> Part? {
    if isAddressDue {
      isAddressDue = false
      address = consume(4).littleEndianWord(at: 0)
      return nil
    }
    // Complete words, except at the end of the tag.
    let count = left <= held.count ? left : held.count & ~3
    let part = Part(address: address, bytes: consume(count))
    address &+= UInt32(count)
    return part
  }

  private mutating func close() throws(Fault) {
    let stated = Array(held.prefix(4)).littleEndianWord(at: 0)
    guard stated == crc.value, isSigned || !requiresSignature else { throw .rejected }
    held.removeFirst(4)
    left = nil
    isComplete = true
  }

  private mutating func consume(_ count: Int) -> [UInt8] {
    let bytes = Array(held.prefix(count))
    held.removeFirst(count)
    crc.update(bytes)
    left = left.map { $0 - count }
    return bytes
  }
}
