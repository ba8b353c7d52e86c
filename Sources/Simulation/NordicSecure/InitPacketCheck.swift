import Crypto

/// The checks of an init packet, in the order in which a Secure DFU bootloader performs them.
struct InitPacketCheck: Sendable {
  /// The public key that verifies signatures, 64 bytes (X, Y); `nil` = no verification.
  let key: [UInt8]?
  let settings: SecureBootloaderSettings
  /// The current versions, which may be newer than the factory versions.
  let applicationVersion: UInt32
  let bootloaderVersion: UInt32
  /// The maximum size of an image in bytes.
  let room: Int

  private static let sha256: UInt64 = 3
  private static let ecdsaP256: UInt64 = 0
  private static let hashBytes = 32

  /// Returns the first error in the init packet; `nil` = no error.
  func refusal(of bytes: [UInt8]) -> SecureResult? {
    do throws(InitPacket.Fault) {
      let packet = try InitPacket(decoding: bytes)
      guard packet.isOfMicrobit == settings.isMicrobit else { return .invalidObject }
      return refusalOfSignature(packet) ?? refusalOfVersions(packet) ?? refusalOfSize(packet)
    } catch {
      switch error {
      case .malformed: return .invalidObject
      case .unknownCommand: return .extended(.unknownCommand)
      case .noInitCommand: return .extended(.initCommandInvalid)
      }
    }
  }

  private func refusalOfSignature(_ packet: InitPacket) -> SecureResult? {
    guard let key else { return nil }
    guard let signature = packet.signature else { return .extended(.signatureMissing) }
    guard signature.type == Self.ecdsaP256 else { return .extended(.wrongSignatureType) }
    return Self.isSignature(signature.bytes, of: packet.signedBytes, by: key)
      ? nil : .invalidObject
  }

  /// Verifies a signature. R and S are sent least significant byte first.
  private static func isSignature(_ bytes: [UInt8], of data: [UInt8], by key: [UInt8]) -> Bool {
    guard bytes.count == 64 else { return false }
    do {
      let bigEndian: [UInt8] = Array(bytes[..<32].reversed()) + Array(bytes[32...].reversed())
      let signature = try P256.Signing.ECDSASignature(rawRepresentation: bigEndian)
      return try P256.Signing.PublicKey(rawRepresentation: key).isValidSignature(
        signature, for: data)
    } catch {
      return false
    }
  }

  private func refusalOfVersions(_ packet: InitPacket) -> SecureResult? {
    guard let type = packet.type.flatMap(InitPacket.ImageType.init(rawValue:)),
      type != .externalApplication
    else { return .extended(.initCommandInvalid) }
    guard packet.hashType == Self.sha256, packet.hash.count == Self.hashBytes else {
      return .extended(.wrongHashType)
    }
    guard let hardware = packet.hardwareVersion else { return .extended(.initCommandInvalid) }
    if packet.isDebug && settings.isDebug { return nil }
    guard hardware == settings.hardwareVersion else { return .extended(.hardwareVersionDiffers) }
    // An application that contains its own SoftDevice states 0 here.
    guard packet.softDevices.first == 0 || packet.softDevices.contains(UInt64(settings.softDevice))
    else { return .extended(.softDeviceNotListed) }
    return refusalOfFirmwareVersion(packet, type)
  }

  private func refusalOfFirmwareVersion(
    _ packet: InitPacket, _ type: InitPacket.ImageType
  ) -> SecureResult? {
    if type == .softDevice { return nil }
    guard let version = packet.firmwareVersion else { return .extended(.initCommandInvalid) }
    let isNewEnough =
      type == .application ? version >= applicationVersion : version > bootloaderVersion
    return isNewEnough ? nil : .extended(.firmwareVersionTooLow)
  }

  private func refusalOfSize(_ packet: InitPacket) -> SecureResult? {
    let isThere =
      switch packet.type.flatMap(InitPacket.ImageType.init(rawValue:)) {
      case .application: packet.applicationSize > 0
      case .softDevice: packet.softDeviceSize > 0
      case .bootloader: packet.bootloaderSize > 0
      case .softDeviceAndBootloader: packet.softDeviceSize > 0 && packet.bootloaderSize > 0
      case .externalApplication, nil: false
      }
    guard isThere else { return .extended(.initCommandInvalid) }
    return packet.imageSize <= room ? nil : .extended(.insufficientSpace)
  }
}

/// The result codes of the bootloader.
enum SecureResult: Hashable, Sendable {
  case operationNotSupported
  case invalidParameter
  case insufficientResources
  /// Also the result for a wrong signature, and for an init packet that cannot be parsed.
  case invalidObject
  case unsupportedType
  case operationNotPermitted
  case operationFailed
  case extended(SecureExtendedError)

  /// The result byte and, if present, the extended error.
  var bytes: [UInt8] {
    switch self {
    case .operationNotSupported: [0x02]
    case .invalidParameter: [0x03]
    case .insufficientResources: [0x04]
    case .invalidObject: [0x05]
    case .unsupportedType: [0x07]
    case .operationNotPermitted: [0x08]
    case .operationFailed: [0x0A]
    case .extended(let error): [0x0B, error.rawValue]
    }
  }
}

enum SecureExtendedError: UInt8, Sendable {
  case unknownCommand = 0x03
  case initCommandInvalid = 0x04
  case firmwareVersionTooLow = 0x05
  case hardwareVersionDiffers = 0x06
  case softDeviceNotListed = 0x07
  case signatureMissing = 0x08
  case wrongHashType = 0x09
  case wrongSignatureType = 0x0B
  case hashMismatch = 0x0C
  case insufficientSpace = 0x0D
}
