/// The init packet of Secure DFU: a protocol-buffers message `Packet` (nRF5 SDK, `dfu-cc.proto`).
public struct SecureInitPacket: Equatable, Sendable {
  /// The maximum size in bytes; devices accept 512 bytes with later SDKs, and 256 bytes with
  /// earlier SDKs.
  public static let sizeMaximum = 512
  /// The maximum number of SoftDevice ids; devices support fewer.
  static let requiredSoftdeviceMaximum = 16
  /// The maximum number of checks at every start: one per part of the firmware.
  static let bootValidationMaximum = 3

  /// The type of firmware (`FwType`).
  public enum Content: UInt64, Sendable, CaseIterable {
    /// Only the application.
    case application = 0
    /// Only Nordic's SoftDevice.
    case softdevice = 1
    /// Only the bootloader.
    case bootloader = 2
    /// SoftDevice and bootloader in sequence in one image.
    case softdeviceAndBootloader = 3
    /// Firmware that the device forwards to another chip.
    case externalApplication = 4
  }

  /// The algorithm of the image's hash (`HashType`).
  public enum HashAlgorithm: UInt64, Sendable, CaseIterable {
    /// The packet has no hash of the image.
    case none = 0
    /// CRC32, 4 bytes.
    case crc = 1
    /// A hash of 16 bytes (`SHA128` of the SDK's `HashType`).
    case sha128 = 2
    /// SHA-256, 32 bytes: written by nrfutil and required by bootloaders.
    case sha256 = 3
    /// SHA-512, 64 bytes.
    case sha512 = 4
  }

  /// The algorithm of the packet's signature (`SignatureType`).
  public enum SignatureAlgorithm: UInt64, Sendable, CaseIterable {
    /// ECDSA on the curve P-256 with SHA-256, written by nrfutil.
    case ecdsaP256 = 0
    /// Ed25519 (RFC 8032).
    case ed25519 = 1
  }

  /// The signature of the packet.
  public struct Signature: Equatable, Sendable {
    /// The algorithm of the signature.
    public let algorithm: SignatureAlgorithm
    /// The signature, 64 bytes; for ECDSA, R and S, both little-endian.
    public let bytes: [UInt8]
  }

  /// A check of the bootloader at every start (`ValidationType`).
  public struct BootValidation: Equatable, Sendable {
    /// The kind of check.
    public enum Kind: UInt64, Sendable, CaseIterable {
      /// No check.
      case none = 0
      /// The CRC32 of the image.
      case crc = 1
      /// The SHA-256 of the image.
      case sha256 = 2
      /// A signature of the image.
      case ecdsaP256 = 3
    }

    /// The kind of check.
    public let kind: Kind
    /// The reference value.
    public let bytes: [UInt8]
  }

  /// The version of the firmware (`fw_version`); `nil` if the packet does not state it.
  public let firmwareVersion: UInt32?
  /// The required version of the hardware (`hw_version`); `nil` if the packet does not state it.
  public let hardwareVersion: UInt32?
  /// The ids of SoftDevices, one of which must be installed. `0xFFFE` means any SoftDevice.
  public let requiredSoftdevices: [UInt32]
  /// The type of the image.
  public let content: Content
  /// The sizes of the parts of the image.
  public let sizes: NordicSizes
  /// The algorithm of the image's hash.
  public let hashAlgorithm: HashAlgorithm
  /// The hash of the complete firmware file, with the last byte first; empty if the packet has no
  /// hash.
  public let hash: [UInt8]
  /// Whether bootloaders that are built for debugging skip the comparison of versions.
  public let isDebug: Bool
  /// The checks of the bootloader at each start; empty for the bootloader's default.
  public let bootValidations: [BootValidation]
  /// The signature; `nil` for an unsigned packet.
  public let signature: Signature?
  /// The bytes of `InitCommand` as sent, which the signature covers.
  public let signedBytes: [UInt8]
}

extension SecureInitPacket.HashAlgorithm: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "none"
    case .crc: "CRC"
    case .sha128: "SHA-128"
    case .sha256: "SHA-256"
    case .sha512: "SHA-512"
    }
  }
}

extension SecureInitPacket.SignatureAlgorithm: CustomStringConvertible {
  public var description: String {
    switch self {
    case .ecdsaP256: "ECDSA P-256"
    case .ed25519: "Ed25519"
    }
  }
}

extension SecureInitPacket.BootValidation.Kind: CustomStringConvertible {
  public var description: String {
    switch self {
    case .none: "no check"
    case .crc: "CRC"
    case .sha256: "SHA-256"
    case .ecdsaP256: "ECDSA P-256 signature"
    }
  }
}
