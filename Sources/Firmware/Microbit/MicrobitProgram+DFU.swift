import Crypto

/// The init packet for the bootloader of a micro:bit V2. The protocol is Nordic's Secure DFU, but
/// the packet is a structure, not a protocol-buffers message (v2-bootloader,
/// `nrf_dfu_validation.c`). The structure consists of the mark, the version 1, the size of the
/// application, the size of the hash, and the SHA-256 with the last byte first. The bootloader
/// requires no signature.
extension MicrobitProgram {
  package static let packetMark: [UInt8] = Array("microbit_app".utf8)
  package static let packetSize = 56
  private static let packetVersion: UInt32 = 1
  private static let hashSize: UInt32 = 32
  /// The bootloader writes its flash in words of this size.
  private static let wordSize = 4

  /// The application, padded to complete words.
  public var paddedApplication: [UInt8] {
    let rest = application.count % Self.wordSize
    return application + [UInt8](repeating: 0xFF, count: rest == 0 ? 0 : Self.wordSize - rest)
  }

  /// The init packet of `paddedApplication`; `nil` for V1, whose bootloader has another protocol,
  /// and for data that does not start where an application starts.
  public var initPacket: NordicInitPacket? {
    guard board == .v2, start == board.applicationArea.lowerBound else { return nil }
    let image = paddedApplication
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
