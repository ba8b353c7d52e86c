import OtaflashFirmware

/// An image, or the stream that replaces it, as devices identify it: by size and CRC32.
public struct ContentIdentity: Hashable, Sendable {
  /// In bytes.
  public let size: Int
  /// Of all bytes.
  public let crc32: UInt32

  /// Content with this size and CRC32.
  public init(size: Int, crc32: UInt32) {
    self.size = size
    self.crc32 = crc32
  }

  /// The identity of these bytes.
  package init(of bytes: [UInt8]) {
    self.init(size: bytes.count, crc32: CRC32.checksum(bytes))
  }
}
