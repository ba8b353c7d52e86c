/// One entry after the body of an MCUboot image: type, length, value (MCUboot design, `struct
/// image_tlv`).
package struct MCUbootTLV: Equatable, Sendable {
  package let type: MCUbootTLVType
  package let value: [UInt8]
  /// The offset of the entry's first byte in the file.
  package let offset: Int
}

/// The type of an entry (`IMAGE_TLV_…`). Unknown types are kept unchanged.
public struct MCUbootTLVType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }
  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  /// `IMAGE_TLV_KEYHASH`: the hash of the public key, by the algorithm of the image's hash.
  public static let keyHash = MCUbootTLVType(0x01)
  /// `IMAGE_TLV_PUBKEY`: the public key itself.
  public static let publicKey = MCUbootTLVType(0x02)
  /// `IMAGE_TLV_SHA256`.
  public static let sha256 = MCUbootTLVType(0x10)
  /// `IMAGE_TLV_SHA384`.
  public static let sha384 = MCUbootTLVType(0x11)
  /// `IMAGE_TLV_SHA512`.
  public static let sha512 = MCUbootTLVType(0x12)
  /// `IMAGE_TLV_RSA2048_PSS`.
  public static let rsa2048 = MCUbootTLVType(0x20)
  /// `IMAGE_TLV_ECDSA224`, which MCUboot no longer supports.
  public static let ecdsa224 = MCUbootTLVType(0x21)
  /// `IMAGE_TLV_ECDSA_SIG`: P-256 or P-384; the key determines the curve.
  public static let ecdsa = MCUbootTLVType(0x22)
  /// `IMAGE_TLV_RSA3072_PSS`.
  public static let rsa3072 = MCUbootTLVType(0x23)
  /// `IMAGE_TLV_ED25519`.
  public static let ed25519 = MCUbootTLVType(0x24)
  /// The signature covers the image itself, not its hash.
  public static let pureSignature = MCUbootTLVType(0x25)
  /// `IMAGE_TLV_ENC_RSA2048`: the image's key, encrypted with RSA-OAEP.
  public static let keyEncryptedRSA2048 = MCUbootTLVType(0x30)
  /// `IMAGE_TLV_ENC_KW`: the image's key, wrapped with AES key wrap.
  public static let keyWrapped = MCUbootTLVType(0x31)
  /// `IMAGE_TLV_ENC_EC256`: the image's key, encrypted with ECIES on P-256.
  public static let keyEncryptedEC256 = MCUbootTLVType(0x32)
  /// `IMAGE_TLV_ENC_X25519`: the image's key, encrypted with ECIES on X25519.
  public static let keyEncryptedX25519 = MCUbootTLVType(0x33)
  /// `IMAGE_TLV_ENC_X25519_SHA512`: the image's key, encrypted with ECIES on X25519 and SHA-512.
  public static let keyEncryptedX25519SHA512 = MCUbootTLVType(0x34)
  /// `IMAGE_TLV_DEPENDENCY`: another image that must be present.
  public static let dependency = MCUbootTLVType(0x40)
  /// `IMAGE_TLV_SEC_CNT`: prevents downgrades.
  public static let securityCounter = MCUbootTLVType(0x50)
  /// `IMAGE_TLV_BOOT_RECORD`: for attestation.
  public static let bootRecord = MCUbootTLVType(0x60)
  /// `IMAGE_TLV_DECOMP_SIZE`.
  public static let decompressedSize = MCUbootTLVType(0x70)
  /// `IMAGE_TLV_DECOMP_SHA`.
  public static let decompressedSHA = MCUbootTLVType(0x71)
  /// `IMAGE_TLV_DECOMP_SIGNATURE`.
  public static let decompressedSignature = MCUbootTLVType(0x72)
  /// `IMAGE_TLV_COMP_DEC_SIZE`.
  public static let compressedDecodedSize = MCUbootTLVType(0x73)
  /// `IMAGE_TLV_UUID_VID`: the vendor of the device.
  public static let vendorID = MCUbootTLVType(0x74)
  /// `IMAGE_TLV_UUID_CID`: the class of the device.
  public static let classID = MCUbootTLVType(0x75)
  /// The type of the vendor's id in MCUboot's documentation, which differs from the type in
  /// MCUboot's header file.
  public static let documentedVendorID = MCUbootTLVType(0x80)
  /// The type of the class's id in MCUboot's documentation.
  public static let documentedClassID = MCUbootTLVType(0x81)

  /// Nordic's type for an image that installs other images, from the range for vendors. The value
  /// of the entry is 1 (nRF Connect SDK Bare Metal,
  /// `cmake/sysbuild/image_signing_installer.cmake`).
  static let nordicInstaller = MCUbootTLVType(0xA0)

  private static let names: [MCUbootTLVType: String] = [
    keyHash: "key hash", publicKey: "public key", sha256: "SHA-256", sha384: "SHA-384",
    sha512: "SHA-512", rsa2048: "RSA-2048 signature", ecdsa224: "ECDSA P-224 signature",
    ecdsa: "ECDSA signature", rsa3072: "RSA-3072 signature", ed25519: "Ed25519 signature",
    pureSignature: "signature covers the image itself",
    keyEncryptedRSA2048: "key encrypted with RSA-2048", keyWrapped: "key wrapped with AES",
    keyEncryptedEC256: "key encrypted with ECIES P-256",
    keyEncryptedX25519: "key encrypted with ECIES X25519",
    keyEncryptedX25519SHA512: "key encrypted with ECIES X25519 and SHA-512",
    dependency: "dependency", securityCounter: "security counter", bootRecord: "boot record",
    decompressedSize: "decompressed size", decompressedSHA: "decompressed hash",
    decompressedSignature: "decompressed signature",
    compressedDecodedSize: "size before compression",
    vendorID: "vendor id", classID: "class id",
    documentedVendorID: "vendor id", documentedClassID: "class id",
  ]

  /// Whether the type is in the range for vendors: a low byte of A0…FE.
  public var isVendorReserved: Bool { (0xA0...0xFE).contains(rawValue & 0xFF) }

  /// The length in bytes of the values of a type with a fixed length; `nil` for the other types.
  var fixedLength: Int? {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    case .rsa2048: 256
    case .rsa3072: 384
    case .ed25519: 64
    case .dependency: 12
    case .securityCounter, .decompressedSize: 4
    case .vendorID, .classID: 16
    default: nil
    }
  }
}

extension MCUbootTLVType: CustomStringConvertible {
  public var description: String {
    Self.names[self] ?? (isVendorReserved ? "vendor's own" : "unknown")
      + " 0x\(rawValue.hexadecimal)"
  }
}
