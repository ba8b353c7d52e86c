import COtaflashZlib

/// The CRC32 of IEEE 802.3 and zlib. Check value: `123456789` yields `0xCBF43926`.
public struct CRC32: Hashable, Sendable {
  /// The checksum of all bytes so far; 0 before the first byte.
  public private(set) var value: UInt32 = 0

  /// Creates the checksum of zero bytes.
  public init() {}

  /// Continues a checksum that was computed earlier.
  public init(continuing value: UInt32) { self.value = value }

  /// Continues with `bytes`.
  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else { return }
    value = UInt32(truncatingIfNeeded: crc32_z(UInt(value), base, bytes.count))
  }

  /// Continues with `bytes`.
  public mutating func update(_ bytes: some Collection<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { update($0) } }
  }

  /// Returns the checksum of `bytes`.
  public static func checksum(_ bytes: some Collection<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.update(bytes)
    return crc.value
  }
}
