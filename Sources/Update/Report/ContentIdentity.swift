import OtaflashFirmware

/// The size and CRC32 by which a device identifies an image, or a stream that replaces an image.
public struct ContentIdentity: Hashable, Sendable {
  /// The size in bytes.
  public let size: Int
  /// The CRC32 of all bytes.
  public let crc32: UInt32

  /// Creates the identity of content with this size and CRC32.
  public init(size: Int, crc32: UInt32) {
    self.size = size
    self.crc32 = crc32
  }

  /// Creates the identity of these bytes.
  package init(of bytes: [UInt8]) {
    self.init(size: bytes.count, crc32: CRC32.checksum(bytes))
  }
}
