import Crypto

/// The init packets for the bootloaders of a micro:bit.
///
/// The bootloader of V2 has Nordic's Secure DFU, but its packet is a structure, not a
/// protocol-buffers message (v2-bootloader, `nrf_dfu_validation.c`). The structure consists of the
/// mark, the version 1, the size of the application, the size of the hash, and the SHA-256 with the
/// last byte first. The bootloader requires no signature.
///
/// The bootloader of V1 has Nordic's legacy DFU. Its packet names any device, any version and the
/// SoftDevice S110 8.0, and contains a CRC16 (microbit-connection, `nordic-dfu.ts`).
extension MicrobitProgram {
  package static let packetMark: [UInt8] = Array("microbit_app".utf8)
  package static let packetSize = 56
  private static let packetVersion: UInt32 = 1
  private static let hashSize: UInt32 = 32
  /// The SoftDevice of V1.
  private static let softDeviceOfV1: UInt16 = 0x0064
  /// The bootloaders write their flash in words of this size.
  private static let wordSize = 4

  /// The application, padded to complete words.
  public var paddedApplication: [UInt8] {
    let rest = application.count % Self.wordSize
    return application + [UInt8](repeating: 0xFF, count: rest == 0 ? 0 : Self.wordSize - rest)
  }

  /// The init packet of `paddedApplication`; `nil` for data that does not start where an
  /// application starts.
  public var initPacket: NordicInitPacket? {
    guard start == board.applicationArea.lowerBound else { return nil }
    return switch board {
    case .v1: legacyPacket(of: paddedApplication)
    case .v2: securePacket(of: paddedApplication)
    }
  }

  private func legacyPacket(of image: [UInt8]) -> NordicInitPacket? {
    let anyDevice: [UInt8] = [UInt8](repeating: 0xFF, count: 8)
    let numbers = [1, Self.softDeviceOfV1, CRC16.checksum(image)].flatMap { number in
      [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
    }
    do {
      return NordicInitPacket(
        bytes: anyDevice + numbers, role: .application,
        sizes: NordicSizes(application: UInt32(image.count)),
        command: .legacy(try LegacyInitPacket(decoding: anyDevice + numbers)))
    } catch {
      return nil
    }
  }

  private func securePacket(of image: [UInt8]) -> NordicInitPacket {
    let size = UInt32(image.count)
    let hash = Array(SHA256.hash(data: image).reversed())
    let words = [Self.packetVersion, size, Self.hashSize].flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) }
    }
    let bytes = Self.packetMark + words + hash
    let sizes = NordicSizes(application: size)
    let fields = SecureInitPacket(
      firmwareVersion: 1, hardwareVersion: nil, requiredSoftdevices: [], content: .application,
      sizes: sizes, hashAlgorithm: .sha256, hash: hash, isDebug: false, bootValidations: [],
      signature: nil, signedBytes: bytes)
    return NordicInitPacket(
      bytes: bytes, role: .application, sizes: sizes, command: .secure(fields))
  }
}
