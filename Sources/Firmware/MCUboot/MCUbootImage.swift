/// What an MCUboot image says of itself: its header, the entries behind its body, and the trailer
/// of a slot if the file was padded to one (MCUboot design, image format).
///
/// Decoding checks the structure only; whether the hash and the signature hold is found out by
/// `FirmwareImage.checkIntegrity()` and `FirmwareImage.checkSignature(by:)`.
public struct MCUbootImage: Equatable, Sendable {
  /// The hash that an image carries of its own header, body and protected entries.
  public struct Hash: Hashable, Sendable {
    /// The hash's kind.
    public enum Algorithm: String, Sendable, CaseIterable {
      /// 32 bytes.
      case sha256 = "SHA-256"
      /// 48 bytes.
      case sha384 = "SHA-384"
      /// 64 bytes.
      case sha512 = "SHA-512"

      init?(_ type: MCUbootTLVType) {
        switch type {
        case .sha256: self = .sha256
        case .sha384: self = .sha384
        case .sha512: self = .sha512
        default: return nil
        }
      }
    }

    /// SHA-256, SHA-384 or SHA-512.
    public let algorithm: Algorithm
    /// 32, 48 or 64 bytes.
    public let bytes: [UInt8]

    /// A hash that was read, or one to compare with.
    public init(algorithm: Algorithm, bytes: [UInt8]) {
      self.algorithm = algorithm
      self.bytes = bytes
    }
  }

  /// Another image that must be there, in at least this version.
  public struct Dependency: Hashable, Sendable {
    /// Of the device's images, 0 or more.
    public let imageIndex: UInt8
    /// The lowest version that will do.
    public let version: MCUbootVersion

    /// An image that must be there, too.
    public init(imageIndex: UInt8, version: MCUbootVersion) {
      self.imageIndex = imageIndex
      self.version = version
    }
  }

  /// What the image begins with.
  public let header: MCUbootHeader
  /// The entries that the hash covers.
  package let protectedEntries: [MCUbootTLV]
  /// The other entries: hash, key hash, signatures.
  package let entries: [MCUbootTLV]
  /// Bytes from the start of the file that hash and signature cover: header, body and protected
  /// entries.
  package let coveredSize: Int
  /// Bytes of the image with all its entries. What follows in the file is fill or a trailer.
  public let size: Int
  package let trailer: MCUbootTrailer?
  /// `nil` for an image that carries none.
  public let hash: Hash?

  /// The header's.
  public var version: MCUbootVersion { header.version }
  /// The body can be read only with a key that is not the host's.
  public var isEncrypted: Bool {
    !header.flags.isDisjoint(with: [.encryptedAES128, .encryptedAES256])
  }

  /// Reads an image, and what follows it in the file.
  public init(decoding bytes: [UInt8]) throws(MCUbootFault) {
    header = try MCUbootHeader(decoding: bytes)
    let bodyEnd = Int(header.headerSize) + Int(header.bodySize)
    guard bodyEnd <= bytes.count else {
      throw .bodyBeyondEnd(needed: bodyEnd, found: bytes.count)
    }
    let protectedSize = Int(header.protectedSize)
    if protectedSize > 0 {
      let area = try MCUbootTLVArea(
        decoding: bytes, at: bodyEnd, magic: MCUbootTLVArea.protectedMagic)
      guard area.end - bodyEnd == protectedSize else {
        throw .protectedSizesDiffer(
          header: protectedSize, area: area.end - bodyEnd, offset: bodyEnd)
      }
      protectedEntries = area.entries
    } else {
      protectedEntries = []
    }
    coveredSize = bodyEnd + protectedSize
    let area = try MCUbootTLVArea(
      decoding: bytes, at: coveredSize, magic: MCUbootTLVArea.magic)
    entries = area.entries
    size = area.end
    trailer = MCUbootTrailer(endOf: bytes, notBefore: area.end)
    hash = try Self.hash(among: area.entries)
  }

  private static func hash(among entries: [MCUbootTLV]) throws(MCUbootFault) -> Hash? {
    let hashes = entries.compactMap { entry in
      Hash.Algorithm(entry.type).map { (Hash(algorithm: $0, bytes: entry.value), entry.offset) }
    }
    if hashes.count > 1 { throw .secondHash(offset: hashes[1].1) }
    return hashes.first?.0
  }
}

extension MCUbootImage {
  /// The images that must be there too.
  public var dependencies: [Dependency] {
    protectedEntries.filter { $0.type == .dependency }.compactMap { entry in
      MCUbootVersion(decoding: entry.value.suffix(8)).map {
        Dependency(imageIndex: entry.value[0], version: $0)
      }
    }
  }

  /// Its bootloader decompresses the body before it starts the image (MCUboot,
  /// docs/compression_format.md).
  public var isCompressed: Bool {
    !header.flags.isDisjoint(with: [.compressedLZMA1, .compressedLZMA2])
  }

  /// The hash that the image has once its bootloader has decompressed it, and which it carries
  /// from then on; `nil` for an image that is not compressed, or does not say.
  public var decompressedHash: [UInt8]? {
    guard isCompressed else { return nil }
    return protectedEntries.first { $0.type == .decompressedSHA }?.value
  }

  /// Bytes of header and body once they are decompressed; `nil` as for the hash.
  public var decompressedSize: Int? {
    guard isCompressed,
      let size: UInt32 = protectedEntries.first(where: { $0.type == .decompressedSize })?.value
        .littleEndian(at: 0)
    else { return nil }
    return Int(header.headerSize) + Int(size)
  }

  /// What the image installs; `nil` for one that is no installer.
  ///
  /// - Parameter bytes: the file that the image was decoded from.
  func installerContent(in bytes: [UInt8]) -> InstallerContent? {
    guard protectedEntries.contains(where: { $0.type == .nordicInstaller && $0.value == [1] })
    else { return nil }
    let start = Int(header.headerSize)
    return InstallerContent(in: bytes[start..<start + Int(header.bodySize)])
  }

  /// What tells the image while it runs: the hash that it carries, or that of what it decompresses
  /// to.
  public var runningHash: [UInt8]? { isCompressed ? decompressedHash : hash?.bytes }

  /// The number below which the bootloader refuses images; only what the hash covers counts.
  public var securityCounter: UInt32? {
    protectedEntries.first { $0.type == .securityCounter }?.value.littleEndian(at: 0)
  }
}
