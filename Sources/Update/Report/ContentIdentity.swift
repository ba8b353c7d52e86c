import OtaflashFirmware

/// Octets as devices tell of them: an image, or what is sent instead, by size and CRC32.
public struct ContentIdentity: Hashable, Sendable {
  /// In octets.
  public let size: Int
  /// Of all its octets.
  public let crc32: UInt32

  /// Octets so many, with this CRC32.
  public init(size: Int, crc32: UInt32) {
    self.size = size
    self.crc32 = crc32
  }

  /// Of octets that are here.
  package init(of octets: [UInt8]) {
    self.init(size: octets.count, crc32: CRC32.checksum(octets))
  }
}
