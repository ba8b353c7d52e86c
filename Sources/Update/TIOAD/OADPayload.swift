import OtaflashFirmware
import OtaflashWire

/// The facts about an image that its announcement and the evidence after the restart need.
struct OADPayload: Equatable, Sendable {
  private static let sizeOffset = 12

  let generation: OADGeneration
  /// The value of Image Identify.
  let announcement: [UInt8]
  /// The number of bytes after which the device examines the header and erases its flash; 0 for an
  /// MCUboot image.
  let headerSize: Int
  private let oad: OADImage?
  private let mcuboot: MCUbootVersion?

  /// Returns `nil` for an image of another kind.
  init?(_ image: FirmwareImage) {
    switch image.content {
    case .oad(let oad):
      generation = .bim
      announcement = Self.announcement(of: oad)
      headerSize = oad.headerSize
      (self.oad, mcuboot) = (oad, nil)
    case .mcuboot(let content, _):
      generation = .mcuboot
      announcement = Self.announcement(ofMCUboot: image.bytes)
      headerSize = 0
      (oad, mcuboot) = (nil, content.version)
    case .plain, .nordic, .esp, .gbl, .telink, .suota, .microbit: return nil
    }
  }

  /// Identification, versions, image information, length, software version: 22 bytes.
  private static func announcement(of image: OADImage) -> [UInt8] {
    var writer = ByteWriter()
    writer.bytes(image.identification)
    writer.uint8(image.bimVersion)
    writer.uint8(image.headerVersion)
    writer.bytes(image.information)
    writer.uint32(image.length)
    writer.bytes(image.softwareVersion.bytes)
    return writer.bytes
  }

  /// The header of the image, with the number of all bytes to send in place of the size of the
  /// body: the device uses this field as the number of bytes to receive.
  private static func announcement(ofMCUboot bytes: [UInt8]) -> [UInt8] {
    var writer = ByteWriter()
    writer.bytes(bytes[..<sizeOffset])
    writer.uint32(UInt32(clamping: bytes.count))
    writer.bytes(bytes[(sizeOffset + 4)..<MCUbootHeader.size])
    return writer.bytes
  }

  /// Whether a device that reports this version runs the image, as far as the version shows.
  func matches(_ reported: OADReportedVersion) -> Bool {
    switch reported {
    case .bim(let version):
      guard let oad else { return false }
      return version.matches(oad.softwareVersion, of: oad.type)
    case .mcuboot(let version, let build):
      guard let mcuboot else { return false }
      return mcuboot.firmwareVersion == version
        && UInt16(truncatingIfNeeded: mcuboot.build) == build
    }
  }

  /// Whether the version distinguishes images.
  var hasOwnVersion: Bool { oad?.softwareVersion.identifiesImage ?? true }
}

/// The version of the running software.
enum OADReportedVersion: Equatable, Sendable {
  /// The version in the header of the running image.
  case bim(OADSoftwareVersion)
  /// The version and the lower half of the build number of an MCUboot image.
  case mcuboot(FirmwareVersion, build: UInt16)

  /// Creates the version from the bytes of an answer; `nil` for another number of bytes.
  init?(_ bytes: [UInt8]) {
    func word(_ index: Int) -> UInt16 { UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]) }
    switch bytes.count {
    case 4: self = .bim(OADSoftwareVersion(bytes: bytes))
    case 6: self = .mcuboot(FirmwareVersion(bytes[0], bytes[1], word(2)), build: word(4))
    default: return nil
    }
  }

  var generation: OADGeneration {
    switch self {
    case .bim: .bim
    case .mcuboot: .mcuboot
    }
  }

  var version: FirmwareVersion {
    switch self {
    case .bim(let version): version.version
    case .mcuboot(let version, _): version
    }
  }
}
