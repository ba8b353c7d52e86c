/// The reason why an MCUboot image was rejected. Offsets count from the image's first byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MCUbootFault: Error, Equatable, Sendable {
  /// The file ends within the header of 32 bytes; `found` is the number of bytes in the file.
  case headerCutOff(found: Int)
  /// The magic of the format before MCUboot 1.0.
  case oldFormat
  /// The first four bytes are not 0x96F3B83D.
  case wrongMagic(UInt32)
  /// A header size below the 32 bytes of the header.
  case headerTooShort(stated: UInt16)
  /// Header and body exceed the file.
  case bodyBeyondEnd(needed: Int, found: Int)
  /// The file ends before a TLV area.
  case areaMissing(offset: Int)
  /// A TLV area does not start with its magic.
  case wrongAreaMagic(UInt16, expected: UInt16, offset: Int)
  /// An area whose stated size is less than its own header of 4 bytes.
  case areaTooShort(stated: Int, offset: Int)
  /// An area whose stated size exceeds the file.
  case areaBeyondEnd(stated: Int, left: Int, offset: Int)
  /// The header and the protected area state different sizes of the area.
  case protectedSizesDiffer(header: Int, area: Int, offset: Int)
  /// Fewer than the 4 bytes of type and length remain in the area.
  case entryCutOff(offset: Int)
  /// An entry whose stated length exceeds its area.
  case entryBeyondArea(MCUbootTLVType, length: Int, left: Int, offset: Int)
  /// The length of an entry does not match its type.
  case wrongLength(MCUbootTLVType, expected: Int, found: Int, offset: Int)
  /// An area has more entries than any image needs.
  case tooManyEntries(limit: Int, offset: Int)
  /// A second hash of the image; the format does not define which hash the bootloader uses.
  case secondHash(offset: Int)
}

extension MCUbootFault {
  /// The position of the error in the image, from 0.
  public var offset: Int {
    switch self {
    case .headerCutOff, .oldFormat, .wrongMagic: 0
    case .headerTooShort: 8
    case .bodyBeyondEnd: 12
    case .areaMissing(let offset), .wrongAreaMagic(_, _, let offset), .areaTooShort(_, let offset),
      .areaBeyondEnd(_, _, let offset), .protectedSizesDiffer(_, _, let offset),
      .entryCutOff(let offset), .entryBeyondArea(_, _, _, let offset),
      .wrongLength(_, _, _, let offset), .tooManyEntries(_, let offset), .secondHash(let offset):
      offset
    }
  }
}

extension MCUbootFault: CustomStringConvertible {
  public var description: String { "MCUboot image, offset \(offset): \(sentence)" }

  private var sentence: String {
    switch self {
    case .headerCutOff(let found):
      "the header has \(MCUbootHeader.size) bytes, but the file has only \(found)"
    case .oldFormat:
      "the format is older than MCUboot 1.0, and its signature covers other bytes; sign it again"
    case .wrongMagic(let magic): "the magic is 0x\(magic.hexadecimal)"
    case .headerTooShort(let stated):
      "the header size is \(stated); the minimum is \(MCUbootHeader.size)"
    case .bodyBeyondEnd(let needed, let found):
      "header and body have \(needed) bytes, but the file has only \(found); it is truncated"
    case .areaMissing: "the file ends before its list of hashes and signatures"
    case .wrongAreaMagic(let found, let expected, _):
      "a TLV area must start with 0x\(expected.hexadecimal), not 0x\(found.hexadecimal)"
    case .areaTooShort(let stated, _): "the TLV area's size is \(stated); the minimum is 4"
    case .areaBeyondEnd(let stated, let left, _):
      "the TLV area has \(stated) bytes, but the file has only \(left) more; it is truncated"
    case .protectedSizesDiffer(let header, let area, _):
      "the protected TLV area has \(area) bytes, but the header states \(header)"
    case .entryCutOff: "the TLV area ends within an entry"
    case .entryBeyondArea(let type, let length, let left, _):
      "the entry '\(type)' has \(length) bytes, but the TLV area has only \(left) more"
    case .wrongLength(let type, let expected, let found, _):
      "the entry '\(type)' has \(found) bytes, not \(expected)"
    case .tooManyEntries(let limit, _): "the TLV area has more than \(limit) entries"
    case .secondHash: "a second hash of the image"
    }
  }
}
