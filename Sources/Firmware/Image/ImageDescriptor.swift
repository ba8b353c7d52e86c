/// A block of 32 bytes in a firmware image that states its version and its board
/// (docs/image-descriptor.md). The firmware's build places it 4-aligned into the first 64 KiB.
package struct ImageDescriptor: Hashable, Sendable {
  /// The size of a descriptor in bytes.
  package static let size = 32
  /// The number of bytes at the start of an image that are searched for a descriptor.
  static let searchLimit = 0x1_0000
  /// The layout that this version writes and reads.
  static let layout: UInt8 = 1
  /// `OTAimg` and two bytes that are not text, so that no string of a program matches.
  static let magic: [UInt8] = [0x4F, 0x54, 0x41, 0x69, 0x6D, 0x67, 0xD1, 0x5C]

  /// The image's version.
  package let version: FirmwareVersion
  /// The hardware id; `nil` (0 in the block) if the image runs on any board.
  package let hardware: HardwareID?

  /// Creates a descriptor for an image; `nil` means any hardware.
  package init(version: FirmwareVersion, hardware: HardwareID?) {
    self.version = version
    self.hardware = hardware
  }

  /// The 32 bytes in the image.
  package var encoded: [UInt8] {
    var block = Self.magic + [Self.layout, 0, 0, 0]
    block += Self.littleEndian(hardware?.rawValue ?? 0)
    block += [version.major, version.minor]
    block += [UInt8(version.patch & 0xFF), UInt8(version.patch >> 8)]
    block += [UInt8](repeating: 0, count: 8)
    return block + Self.littleEndian(CRC32.checksum(block))
  }

  /// Searches for a descriptor at each multiple of 4 in the first 64 KiB; returns `nil` if none is
  /// found. Equal descriptors count as one.
  /// - Throws: `.descriptorDamaged`, `.descriptorLayoutUnknown` or `.descriptorsDiffer`.
  package static func find(in image: [UInt8]) throws(FirmwareFault) -> ImageDescriptor? {
    var found: (descriptor: ImageDescriptor, offset: Int)?
    let searched = min(image.count, searchLimit)
    for offset in stride(from: 0, to: searched, by: 4)
    where image[offset] == magic[0] && image[offset..<searched].starts(with: magic) {
      let descriptor = try ImageDescriptor(decoding: image[offset..<searched])
      if let found, found.descriptor != descriptor {
        throw .descriptorsDiffer(firstOffset: found.offset, secondOffset: offset)
      }
      found = found ?? (descriptor, offset)
    }
    return found?.descriptor
  }

  /// Decodes the block at the start of `block`, whose magic was already compared. The indices of
  /// `block` are offsets in the image.
  private init(decoding block: ArraySlice<UInt8>) throws(FirmwareFault) {
    let offset = block.startIndex
    guard block.count >= Self.size else { throw .descriptorDamaged(offset: offset) }
    func word(_ at: Int) -> UInt32 {
      (0..<4).reduce(0) { $0 | UInt32(block[offset + at + $1]) << (8 * UInt32($1)) }
    }
    let covered = Self.size - 4
    guard CRC32.checksum(block.prefix(covered)) == word(covered) else {
      throw .descriptorDamaged(offset: offset)
    }
    guard block[offset + 8] == Self.layout else {
      throw .descriptorLayoutUnknown(block[offset + 8], offset: offset)
    }
    version = FirmwareVersion(
      block[offset + 16], block[offset + 17], UInt16(truncatingIfNeeded: word(16) >> 16))
    hardware = word(12) == 0 ? nil : HardwareID(word(12))
  }

  private static func littleEndian(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
  }
}
