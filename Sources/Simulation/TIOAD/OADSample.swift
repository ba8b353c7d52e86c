import Crypto
import OtaflashFirmware

/// Assembles images for devices with TI's OAD.
enum OADSample {
  static let bimVersion: UInt8 = 3
  static let headerVersion: UInt8 = 1
  static let magic: UInt32 = 0x96F3_B83D
  private static let technology: UInt16 = 0xFFFE
  private static let unset: UInt32 = 0xFFFF_FFFF
  private static let entryAddress: UInt32 = 0x40
  private static let segmentHeaderSize = 12
  private static let mcubootHeaderSize = 32

  /// Returns an image in the format of the device.
  static func image(
    _ body: [UInt8], version: FirmwareVersion, _ settings: OADServerSettings
  ) -> [UInt8] {
    switch settings.generation {
    case .bim:
      image(
        body, identification: settings.chip.identification, type: .complete,
        softwareVersion: OADSoftwareVersion(version).bytes)
    case .mcuboot: mcuboot(body, version: version)
    }
  }

  /// Returns an image with a core header and one segment.
  static func image(
    _ body: [UInt8], identification: [UInt8], type: OADImageType, softwareVersion: [UInt8]
  ) -> [UInt8] {
    let padding = [UInt8](repeating: 0xFF, count: (4 - body.count % 4) % 4)
    let code = body + padding
    let segment = UInt32(segmentHeaderSize + code.count)
    let length = UInt32(OADImage.coreSize) + segment
    var covered: [UInt8] = [bimVersion, headerVersion]
    covered += technology.littleEndianBytes
    covered += [0xFF, 0xFF, type.rawValue, 1]
    covered += unset.littleEndianBytes
    covered += length.littleEndianBytes
    covered += entryAddress.littleEndianBytes
    covered += softwareVersion
    covered += (length - 1).littleEndianBytes
    covered += UInt16(OADImage.coreSize).littleEndianBytes
    covered += [0xFF, 0xFF]
    // The segment with the code, which starts at address 0.
    covered += [1] + technology.littleEndianBytes + [0xFF]
    covered += segment.littleEndianBytes + UInt32(0).littleEndianBytes
    covered += code
    let crc = CRC32.checksum(covered)
    return identification + crc.littleEndianBytes + covered
  }

  /// Returns an MCUboot image with a SHA-256.
  private static func mcuboot(_ body: [UInt8], version: FirmwareVersion) -> [UInt8] {
    var header = magic.littleEndianBytes + UInt32(0).littleEndianBytes
    header += UInt16(mcubootHeaderSize).littleEndianBytes + UInt16(0).littleEndianBytes
    header += UInt32(body.count).littleEndianBytes + UInt32(0).littleEndianBytes
    header += [version.major, version.minor] + version.patch.littleEndianBytes
    header += [UInt8](repeating: 0, count: mcubootHeaderSize - header.count)
    let hash = Array(SHA256.hash(data: header + body))
    let entry = UInt16(0x10).littleEndianBytes + UInt16(hash.count).littleEndianBytes + hash
    let area = UInt16(0x6907).littleEndianBytes + UInt16(entry.count + 4).littleEndianBytes
    return header + body + area + entry
  }

  /// Returns the version in the header of an image.
  static func version(
    of image: [UInt8], _ generation: OADServerSettings.Generation
  ) -> FirmwareVersion {
    guard image.count >= OADImage.coreSize else { return .unknown }
    switch generation {
    case .bim: return OADSoftwareVersion(reading: image).version
    case .mcuboot: return FirmwareVersion(image[20], image[21], image.littleEndianHalfword(at: 22))
    }
  }

  /// Returns the version that a device with this image reports.
  static func reported(
    of image: [UInt8], _ generation: OADServerSettings.Generation
  ) -> [UInt8] {
    guard image.count >= OADImage.coreSize else { return [0xFF, 0xFF, 0xFF, 0xFF] }
    switch generation {
    case .bim: return OADSoftwareVersion(reading: image).bytes
    // Major, minor, then the revision and the lower half of the build number, high bytes first.
    case .mcuboot: return [image[20], image[21], image[23], image[22], image[25], image[24]]
    }
  }

  /// Whether a bootloader starts the image.
  static func isGood(_ image: [UInt8], _ generation: OADServerSettings.Generation) -> Bool {
    switch generation {
    case .bim:
      do throws(OADImageFault) { _ = try OADImage(decoding: image) } catch { return false }
      return true
    case .mcuboot:
      do throws(MCUbootFault) {
        let decoded = try MCUbootImage(decoding: image)
        return decoded.hash?.bytes == Array(SHA256.hash(data: Array(image[..<decoded.coveredSize])))
      } catch {
        return false
      }
    }
  }
}

extension OADSoftwareVersion {
  /// Reads the version in the header of an image.
  fileprivate init(reading image: [UInt8]) {
    let start = OADImage.softwareVersionOffset
    self.init(bytes: Array(image[start..<start + 4]))
  }
}
