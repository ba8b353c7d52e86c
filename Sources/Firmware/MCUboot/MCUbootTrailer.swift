/// The bootloader's state at the end of a slot, in a file that is padded to the size of a slot
/// (MCUboot design, image trailer).
package struct MCUbootTrailer: Equatable, Sendable {
  /// The requested action of the bootloader (`swap_info`, low four bits).
  package enum Swap: Equatable, Sendable {
    case none
    case test
    case permanent
    case revert
    case fail
    case unknown(UInt8)

    init(_ info: UInt8) {
      switch info & 0x0F {
      case 1, 0x0F: self = .none
      case 2: self = .test
      case 3: self = .permanent
      case 4: self = .revert
      case 5: self = .fail
      default: self = .unknown(info & 0x0F)
      }
    }
  }

  /// A flag of one byte: 1, or 0xFF in erased flash.
  package enum Flag: Equatable, Sendable {
    case set
    case unset
    case bad(UInt8)

    init(_ byte: UInt8) {
      switch byte {
      case 1: self = .set
      case 0xFF: self = .unset
      default: self = .bad(byte)
      }
    }
  }

  static let magicSize = 16
  /// The magic of trailers with a `BOOT_MAX_ALIGN` of 8.
  private static let magic8: [UInt8] = [
    0x77, 0xC2, 0x95, 0xF3, 0x60, 0xD2, 0xEF, 0x7F, 0x35, 0x52, 0x50, 0x0F, 0x2C, 0xB6, 0x79, 0x80,
  ]
  /// The end of the magic for other alignments; the two bytes before it state the alignment.
  private static let magicTail: [UInt8] = [
    0x2D, 0xE1, 0x5D, 0x29, 0x41, 0x0B, 0x8D, 0x77, 0x67, 0x9C, 0x11, 0x0F, 0x1F, 0x8A,
  ]
  private static let alignments = [8, 16, 32]

  /// The size in bytes to which each field is padded: 8, 16 or 32.
  package let alignment: Int
  /// Whether the image is confirmed: the next reset does not revert it.
  package let imageOK: Flag
  package let copyDone: Flag
  package let swap: Swap

  /// Decodes the end of a file, after `start`, the end of the image itself. Returns `nil` if the
  /// file does not end with a trailer.
  init?(endOf bytes: [UInt8], notBefore start: Int) {
    guard bytes.count - start >= Self.magicSize,
      let alignment = Self.alignment(of: bytes.suffix(Self.magicSize))
    else { return nil }
    let first = bytes.count - max(Self.magicSize, alignment)
    guard first - 3 * alignment >= start else { return nil }
    self.alignment = alignment
    imageOK = Flag(bytes[first - alignment])
    copyDone = Flag(bytes[first - 2 * alignment])
    swap = Swap(bytes[first - 3 * alignment])
  }

  /// Returns `nil` for an unknown magic, or for an alignment that no bootloader uses.
  private static func alignment(of magic: ArraySlice<UInt8>) -> Int? {
    if magic.elementsEqual(magic8) { return 8 }
    guard magic.dropFirst(2).elementsEqual(magicTail),
      let alignment = magic.littleEndian(UInt16.self, at: magic.startIndex)
    else { return nil }
    return alignments.contains(Int(alignment)) ? Int(alignment) : nil
  }
}
