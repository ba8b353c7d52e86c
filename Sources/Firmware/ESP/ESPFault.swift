/// The reason why a file for a chip of Espressif was rejected. Offsets count from the image's first
/// byte.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ESPFault: Error, Equatable, Sendable {
  /// A linked program, which is not an image yet.
  case program
  /// A file of the complete flash, with a bootloader and a partition table at this offset.
  case completeFlash(partitionTable: Int)
  /// The file ends within a structure of the image.
  case cutOff(needed: Int, found: Int)
  /// The header states a number of segments outside 1…16.
  case segmentCount(UInt8)
  /// The XOR checksum of the segments differs.
  case checksumDiffers(stated: UInt8, computed: UInt8, offset: Int)
  /// The SHA-256 at the end of the image differs from the hash of the bytes before it.
  case hashDiffers(offset: Int)
  /// The first segment does not start with the description of an application: the file may be a
  /// bootloader, which no update service can replace.
  case notAnApplication
  /// Bytes after the image that are not a signature.
  case trailingBytes(count: Int, offset: Int)
}

extension ESPFault {
  /// The position of the error in the image, from 0.
  public var offset: Int {
    switch self {
    case .program, .cutOff: 0
    case .segmentCount: 1
    case .notAnApplication: 32
    case .completeFlash(let offset), .checksumDiffers(_, _, let offset), .hashDiffers(let offset),
      .trailingBytes(_, let offset):
      offset
    }
  }
}

extension ESPFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .program:
      "this is the linked program of an ESP32, not its image"
    case .completeFlash(let table):
      "this file covers the complete flash of an ESP32: it has a partition table at offset "
        + "\(table); send only the application, usually build/PROJECT.bin"
    case .cutOff(let needed, let found):
      "ESP32 image: it needs at least \(needed) bytes, but the file has only \(found)"
    case .segmentCount(let count): "ESP32 image: the header states \(count) segments, not 1 to 16"
    case .checksumDiffers(let stated, let computed, let offset):
      "ESP32 image, offset \(offset): the checksum is 0x\(stated.hexadecimal), but the segments "
        + "yield 0x\(computed.hexadecimal); the file is damaged"
    case .hashDiffers(let offset):
      "ESP32 image, offset \(offset): the SHA-256 does not match the image; the file is damaged"
    case .notAnApplication:
      "ESP32 image: the first segment does not describe an application; it may be a bootloader"
    case .trailingBytes(let count, let offset):
      "ESP32 image: \(count) bytes after the end of the image at offset \(offset) are not a "
        + "signature"
    }
  }
}
