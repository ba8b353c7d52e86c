/// Why a file that begins as an MCUboot image is none. Offsets count from the image's first byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum MCUbootFault: Error, Equatable, Sendable {
  /// The file ends within the header, which has 32 bytes; `found` counts them.
  case headerCutOff(found: Int)
  /// The magic of the format before MCUboot 1.0.
  case oldFormat
  /// The first four bytes are not 0x96F3B83D.
  case wrongMagic(UInt32)
  /// A header size below the 32 bytes of the header.
  case headerTooShort(stated: UInt16)
  /// Header and body have more bytes than the file.
  case bodyBeyondEnd(needed: Int, found: Int)
  /// The file ends where a TLV area must begin.
  case areaMissing(offset: Int)
  /// An area of type-length-values does not begin with its magic.
  case wrongAreaMagic(UInt16, expected: UInt16, offset: Int)
  /// An area says that it is shorter than its own header of 4 bytes.
  case areaTooShort(stated: Int, offset: Int)
  /// An area says that it is longer than what is left of the file.
  case areaBeyondEnd(stated: Int, left: Int, offset: Int)
  /// The header and the protected area state different sizes.
  case protectedSizesDiffer(header: Int, area: Int, offset: Int)
  /// Fewer than the 4 bytes of type and length are left of the area.
  case entryCutOff(offset: Int)
  /// An entry says that it is longer than what is left of its area.
  case entryBeyondArea(MCUbootTLVType, length: Int, left: Int, offset: Int)
  /// An entry of this type has another length than its kind of hash, key or signature.
  case wrongLength(MCUbootTLVType, expected: Int, found: Int, offset: Int)
  /// More entries than any image has.
  case tooManyEntries(limit: Int, offset: Int)
  /// A second hash of the image: which one the bootloader takes is not known.
  case secondHash(offset: Int)
}

extension MCUbootFault {
  /// Where in the file something is wrong, counted from 0.
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
      "the header has \(MCUbootHeader.size) bytes, the file only \(found)"
    case .oldFormat: "the format is that before MCUboot 1.0, which signs other bytes; sign it again"
    case .wrongMagic(let magic): "the magic is 0x\(magic.hexadecimal)"
    case .headerTooShort(let stated):
      "the header size is \(stated), at least \(MCUbootHeader.size) is possible"
    case .bodyBeyondEnd(let needed, let found):
      "header and body have \(needed) bytes, the file only \(found); it was cut off"
    case .areaMissing: "the file ends where its list of hashes and signatures must begin"
    case .wrongAreaMagic(let found, let expected, _):
      "a TLV area must begin with 0x\(expected.hexadecimal), there is 0x\(found.hexadecimal)"
    case .areaTooShort(let stated, _): "the TLV area's size is \(stated), at least 4 is possible"
    case .areaBeyondEnd(let stated, let left, _):
      "the TLV area has \(stated) bytes, the file only \(left) more; it was cut off"
    case .protectedSizesDiffer(let header, let area, _):
      "the protected TLV area has \(area) bytes, the header says \(header)"
    case .entryCutOff: "the TLV area ends within an entry"
    case .entryBeyondArea(let type, let length, let left, _):
      "the entry '\(type)' has \(length) bytes, the TLV area only \(left) more"
    case .wrongLength(let type, let expected, let found, _):
      "the entry '\(type)' has \(found) bytes, not \(expected)"
    case .tooManyEntries(let limit, _): "the TLV area has more than \(limit) entries"
    case .secondHash: "a second hash of the image"
    }
  }
}
