import OtaflashFirmware

/// Bytes as devices tell of them: an image, or what is sent instead, by size and CRC32.
public struct ContentIdentity: Hashable, Sendable {
  /// In bytes.
  public let size: Int
  /// Of all its bytes.
  public let crc32: UInt32

  /// Bytes so many, with this CRC32.
  public init(size: Int, crc32: UInt32) {
    self.size = size
    self.crc32 = crc32
  }

  /// Of bytes that are here.
  package init(of bytes: [UInt8]) {
    self.init(size: bytes.count, crc32: CRC32.checksum(bytes))
  }
}
