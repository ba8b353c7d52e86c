/// One entry behind the body of an MCUboot image: type, length, value (MCUboot design,
/// `struct image_tlv`).
package struct MCUbootTLV: Equatable, Sendable {
  package let type: MCUbootTLVType
  package let value: [UInt8]
  /// Of the entry's first octet in the file.
  package let offset: Int
}

/// What an entry says (`IMAGE_TLV_…`). Types that are not named here are kept as they are.
public struct MCUbootTLVType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }
  private init(_ rawValue: UInt16) { self.rawValue = rawValue }

  public static let keyHash = MCUbootTLVType(0x01)
  public static let publicKey = MCUbootTLVType(0x02)
  public static let sha256 = MCUbootTLVType(0x10)
  public static let sha384 = MCUbootTLVType(0x11)
  public static let sha512 = MCUbootTLVType(0x12)
  public static let rsa2048 = MCUbootTLVType(0x20)
  public static let ecdsa224 = MCUbootTLVType(0x21)
  public static let ecdsa = MCUbootTLVType(0x22)
  public static let rsa3072 = MCUbootTLVType(0x23)
  public static let ed25519 = MCUbootTLVType(0x24)
  /// The signature covers the image itself, not its hash.
  public static let pureSignature = MCUbootTLVType(0x25)
  public static let keyEncryptedRSA2048 = MCUbootTLVType(0x30)
  public static let keyWrapped = MCUbootTLVType(0x31)
  public static let keyEncryptedEC256 = MCUbootTLVType(0x32)
  public static let keyEncryptedX25519 = MCUbootTLVType(0x33)
  public static let keyEncryptedX25519SHA512 = MCUbootTLVType(0x34)
  public static let dependency = MCUbootTLVType(0x40)
  public static let securityCounter = MCUbootTLVType(0x50)
  public static let bootRecord = MCUbootTLVType(0x60)
  public static let decompressedSize = MCUbootTLVType(0x70)
  public static let decompressedSHA = MCUbootTLVType(0x71)
  public static let decompressedSignature = MCUbootTLVType(0x72)
  public static let compressedDecodedSize = MCUbootTLVType(0x73)
  public static let vendorID = MCUbootTLVType(0x74)
  public static let classID = MCUbootTLVType(0x75)
  /// The numbers of the MCUboot documentation; its header file has the two above.
  public static let documentedVendorID = MCUbootTLVType(0x80)
  public static let documentedClassID = MCUbootTLVType(0x81)

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

  /// The numbers that a maker may use for entries of its own: a low octet of A0…FE.
  public var isVendorReserved: Bool { (0xA0...0xFE).contains(rawValue & 0xFF) }

  /// Hashes and signatures fix the length of their value, in octets; `nil` for the other types.
  var fixedLength: Int? {
    switch self {
    case .sha256: 32
    case .sha384: 48
    case .sha512: 64
    case .rsa2048: 256
    case .rsa3072: 384
    case .ed25519: 64
    case .dependency: 12
    case .securityCounter: 4
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
