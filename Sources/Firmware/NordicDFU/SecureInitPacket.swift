/// The init packet of Secure DFU: a protocol-buffers message `Packet` (nRF5 SDK, `dfu-cc.proto`).
public struct SecureInitPacket: Equatable, Sendable {
  /// The bytes that a device takes; later SDKs take 512, earlier ones 256.
  public static let sizeMaximum = 512
  /// More SoftDevice ids than a device reads.
  static let requiredSoftdeviceMaximum = 16
  /// Checks at every start, one for each part of the firmware.
  static let bootValidationMaximum = 3

  /// What the file is for (`FwType`).
  public enum Content: UInt64, Sendable, CaseIterable {
    /// The application alone.
    case application = 0
    /// Nordic's SoftDevice alone.
    case softdevice = 1
    /// The bootloader alone.
    case bootloader = 2
    /// Both, one behind the other in one image.
    case softdeviceAndBootloader = 3
    /// Firmware for another chip, which the device passes on.
    case externalApplication = 4
  }

  /// `HashType`.
  public enum HashAlgorithm: UInt64, Sendable, CaseIterable {
    /// The packet has no hash of the image.
    case none = 0
    /// CRC32, 4 bytes.
    case crc = 1
    /// 16 bytes (`SHA128` of the SDK's `HashType`).
    case sha128 = 2
    /// SHA-256, 32 bytes: what nrfutil writes and bootloaders want.
    case sha256 = 3
    /// SHA-512, 64 bytes.
    case sha512 = 4
  }

  /// `SignatureType`.
  public enum SignatureAlgorithm: UInt64, Sendable, CaseIterable {
    /// ECDSA on the curve P-256 with SHA-256: what nrfutil writes.
    case ecdsaP256 = 0
    /// Ed25519 (RFC 8032).
    case ed25519 = 1
  }

  /// Who vouches for the packet.
  public struct Signature: Equatable, Sendable {
    /// How it was signed.
    public let algorithm: SignatureAlgorithm
    /// 64 bytes; of ECDSA R and S, each with its last byte first.
    public let bytes: [UInt8]
  }

  /// What the bootloader checks at every start (`ValidationType`).
  public struct BootValidation: Equatable, Sendable {
    /// What the bootloader compares before each start.
    public enum Kind: UInt64, Sendable, CaseIterable {
      /// Nothing is compared.
      case none = 0
      /// The CRC32 of the image.
      case crc = 1
      /// The SHA-256 of the image.
      case sha256 = 2
      /// A signature of the image.
      case ecdsaP256 = 3
    }

    /// What is compared.
    public let kind: Kind
    /// What it is compared with.
    public let bytes: [UInt8]
  }

  /// `fw_version`; `nil` where the packet has none.
  public let firmwareVersion: UInt32?
  /// `hw_version`; `nil` where the packet has none.
  public let hardwareVersion: UInt32?
  /// The ids of the SoftDevices of which one must be there. `0xFFFE` means any.
  public let requiredSoftdevices: [UInt32]
  /// What the image is.
  public let content: Content
  /// How large its parts are.
  public let sizes: NordicSizes
  /// Of the image's hash.
  public let hashAlgorithm: HashAlgorithm
  /// Of the whole firmware file, with the last byte first.
  public let hash: [UInt8]
  /// A bootloader built for debugging then does not compare versions.
  public let isDebug: Bool
  /// What the bootloader compares before each start; none for its own choice.
  public let bootValidations: [BootValidation]
  /// `nil` for an unsigned packet.
  public let signature: Signature?
  /// The bytes of `InitCommand` as they were sent, which the signature covers.
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
