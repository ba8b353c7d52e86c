/// The structure of an MCUboot image: its header, the TLV entries after its body, and, if the file
/// is padded to the size of a slot, the trailer of the slot (MCUboot design, image format).
///
/// Decoding only checks the structure; `FirmwareImage.checkIntegrity()` and
/// `FirmwareImage.checkSignature(by:)` verify the hash and the signature.
public struct MCUbootImage: Equatable, Sendable {
  /// The hash that an image contains, over its header, body and protected entries.
  public struct Hash: Hashable, Sendable {
    /// The hash algorithm.
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

    /// The hash algorithm: SHA-256, SHA-384 or SHA-512.
    public let algorithm: Algorithm
    /// The hash, 32, 48 or 64 bytes.
    public let bytes: [UInt8]

    /// Creates a hash.
    public init(algorithm: Algorithm, bytes: [UInt8]) {
      self.algorithm = algorithm
      self.bytes = bytes
    }
  }

  /// Another image that must be present, in at least this version.
  public struct Dependency: Hashable, Sendable {
    /// The number of the device's image, from 0.
    public let imageIndex: UInt8
    /// The minimum version.
    public let version: MCUbootVersion

    /// Creates a dependency on another image.
    public init(imageIndex: UInt8, version: MCUbootVersion) {
      self.imageIndex = imageIndex
      self.version = version
    }
  }

  /// The header of the image.
  public let header: MCUbootHeader
  /// The entries that the hash covers.
  package let protectedEntries: [MCUbootTLV]
  /// The other entries: hash, hash of the key, signatures.
  package let entries: [MCUbootTLV]
  /// The number of bytes from the start of the file that hash and signature cover: header, body and
  /// protected entries.
  package let coveredSize: Int
  /// The size of the image with all its entries in bytes. The rest of the file is fill or a
  /// trailer.
  public let size: Int
  package let trailer: MCUbootTrailer?
  /// The hash; `nil` if the image contains no hash.
  public let hash: Hash?

  /// The version in the header.
  public var version: MCUbootVersion { header.version }
  /// Whether the body is encrypted for the device.
  public var isEncrypted: Bool {
    !header.flags.isDisjoint(with: [.encryptedAES128, .encryptedAES256])
  }

  /// Decodes an image and the data after it in the file.
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
  /// Other images that must be present.
  public var dependencies: [Dependency] {
    protectedEntries.filter { $0.type == .dependency }.compactMap { entry in
      MCUbootVersion(decoding: entry.value.suffix(8)).map {
        Dependency(imageIndex: entry.value[0], version: $0)
      }
    }
  }

  /// Whether the bootloader decompresses the body before it starts the image (MCUboot,
  /// docs/compression_format.md).
  public var isCompressed: Bool {
    !header.flags.isDisjoint(with: [.compressedLZMA1, .compressedLZMA2])
  }

  /// The hash that the image contains after the bootloader has decompressed it; `nil` if the image
  /// is not compressed or does not state this hash.
  public var decompressedHash: [UInt8]? {
    guard isCompressed else { return nil }
    return protectedEntries.first { $0.type == .decompressedSHA }?.value
  }

  /// The size of the decompressed header and body in bytes; `nil` if the image is not compressed or
  /// does not state the size.
  public var decompressedSize: Int? {
    guard isCompressed,
      let size: UInt32 = protectedEntries.first(where: { $0.type == .decompressedSize })?.value
        .littleEndian(at: 0)
    else { return nil }
    return Int(header.headerSize) + Int(size)
  }

  /// Returns the content of an installer; `nil` for other images.
  ///
  /// - Parameter bytes: the file from which the image was decoded.
  func installerContent(in bytes: [UInt8]) -> InstallerContent? {
    guard protectedEntries.contains(where: { $0.type == .nordicInstaller && $0.value == [1] })
    else { return nil }
    let start = Int(header.headerSize)
    return InstallerContent(in: bytes[start..<start + Int(header.bodySize)])
  }

  /// The hash that identifies the running image: the hash of the image or, if the image is
  /// compressed, the hash of the decompressed image; `nil` if the image does not state this hash.
  public var runningHash: [UInt8]? { isCompressed ? decompressedHash : hash?.bytes }

  /// The security counter, from the protected entries; `nil` if the image has none. A bootloader
  /// that compares counters accepts no image with a lower counter than the counter of the running
  /// image.
  public var securityCounter: UInt32? {
    protectedEntries.first { $0.type == .securityCounter }?.value.littleEndian(at: 0)
  }
}
