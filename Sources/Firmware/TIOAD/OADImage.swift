/// The header of an image for TI's Over-the-Air Download (OAD), for CC26xx and CC13xx chips (TI
/// BLE5-Stack, `oad_image_header.h`); all numbers are little-endian.
///
/// The core header has 44 bytes. Segments follow; the last segment before the code contains the
/// address of the image. The CRC32 covers all bytes from offset 12.
public struct OADImage: Equatable, Sendable {
  /// The identifications of TI's chips, and of LEGO hubs. A product may use its own value.
  package static let identifications = [
    "CC26x2R1", "CC13x2R1", "OAD IMG ", " OAD IMG", "LEGO 132",
  ]
  /// The size of the core header in bytes.
  package static let coreSize = 44
  /// The number of bytes of the identification.
  package static let identificationSize = 8
  package static let crcOffset = 8
  /// The offset of the first byte that the CRC32 covers.
  package static let coveredOffset = 12
  package static let lengthOffset = 24
  package static let softwareVersionOffset = 32
  /// The length in a build that TI's image tool has not processed.
  private static let lengthOfBuild: UInt32 = 0xFFFF_FFFF

  /// The identification, 8 bytes: the chip or the product.
  public let identification: [UInt8]
  /// The CRC32 in the header.
  public let crc32: UInt32
  /// The version of the Boot Image Manager (BIM) that the image requires.
  public let bimVersion: UInt8
  /// The version of the header.
  public let headerVersion: UInt8
  /// The wireless technology as a bit field, 0xFFFE for Bluetooth LE.
  public let technology: UInt16
  /// The copy status, the CRC status, the type and the number of the image.
  package let information: [UInt8]
  /// The size of the image with its header, in bytes.
  public let length: UInt32
  /// The version of the software.
  public let softwareVersion: OADSoftwareVersion
  /// The segments before the code, and the segment with the code.
  package let segments: [OADSegment]

  /// The type of the image.
  public var type: OADImageType { OADImageType(rawValue: information[2]) }
  /// Whether the image contains a signature.
  public var isSigned: Bool { segments.contains { $0.kind == .security } }
  /// The number of bytes up to the code: the device examines them before it erases its flash.
  public var headerSize: Int { segments.last?.codeOffset ?? Self.coreSize }

  /// Returns whether the bytes are an image: they have a known identification, or a correct length
  /// and CRC32 with the current versions of BIM and header.
  package static func begins(_ bytes: [UInt8]) -> Bool {
    guard bytes.count >= coveredOffset else { return false }
    let text = String(decoding: bytes[..<identificationSize], as: UTF8.self)
    if identifications.contains(text) { return true }
    guard bytes.count >= coreSize, bytes[12] == 3, bytes[13] == 1,
      let length: UInt32 = bytes.littleEndian(at: lengthOffset), Int(length) == bytes.count
    else { return false }
    return bytes.littleEndian(at: crcOffset) == checksum(of: bytes)
  }

  /// Decodes the header, and compares the size and the CRC32.
  ///
  /// - Parameter bytes: the complete file.
  public init(decoding bytes: [UInt8]) throws(OADImageFault) {
    guard bytes.count >= Self.coreSize, let crc: UInt32 = bytes.littleEndian(at: Self.crcOffset),
      let technology: UInt16 = bytes.littleEndian(at: 14),
      let length: UInt32 = bytes.littleEndian(at: Self.lengthOffset)
    else { throw .cutOff(found: bytes.count) }
    guard length != Self.lengthOfBuild else { throw .notProcessed }
    guard Int(length) == bytes.count else {
      throw .sizeDiffers(stated: Int(length), found: bytes.count)
    }
    let computed = Self.checksum(of: bytes)
    guard computed == crc else { throw .checksumDiffers(stated: crc, computed: computed) }
    identification = Array(bytes[..<Self.identificationSize])
    crc32 = crc
    bimVersion = bytes[12]
    headerVersion = bytes[13]
    self.technology = technology
    information = Array(bytes[16..<20])
    self.length = length
    softwareVersion = OADSoftwareVersion(
      bytes: Array(bytes[Self.softwareVersionOffset..<Self.softwareVersionOffset + 4]))
    segments = try OADSegment.all(in: bytes)
  }

  /// Returns the CRC32 of an image, over all bytes from offset 12.
  package static func checksum(of bytes: [UInt8]) -> UInt32 {
    CRC32.checksum(bytes.dropFirst(coveredOffset))
  }

  /// The identification as text.
  public var identificationText: String { String(decoding: identification, as: UTF8.self) }
}

/// The type of an image in its core header (`OAD_IMG_TYPE_…`).
public struct OADImageType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The application that remains on a device with on-chip OAD.
  public static let persistent = OADImageType(rawValue: 0)
  /// An application without the Bluetooth stack.
  public static let application = OADImageType(rawValue: 1)
  /// A Bluetooth stack.
  public static let stack = OADImageType(rawValue: 2)
  /// An application and a stack, merged after their builds.
  public static let merged = OADImageType(rawValue: 3)
  /// An application that contains the stack.
  public static let complete = OADImageType(rawValue: 7)

  /// Whether the device can start an image of this type.
  public var isRunnable: Bool { (1...3).contains(rawValue) || self == .complete }
}

extension OADImageType: CustomStringConvertible {
  public var description: String {
    switch rawValue {
    case 0: "persistent application"
    case 1: "application"
    case 2: "stack"
    case 3: "application and stack"
    case 4: "network processor"
    case 5: "factory image"
    case 6: "BIM"
    case 7: "application with stack"
    case 16...31: "type \(rawValue) of the product"
    case 32...63: "type \(rawValue) for a host processor"
    default: "type \(rawValue)"
    }
  }
}
