/// The CRC32 of every prefix of an image. The checksums at block boundaries are stored, so
/// computing a CRC32 reads at most one block.
package struct PrefixChecksums: Sendable {
  /// The number of bytes between two stored checksums.
  private static let stride = 4096

  package let bytes: [UInt8]
  private let kept: [UInt32]

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
    var crc = CRC32()
    var kept: [UInt32] = [0]
    for start in Swift.stride(from: 0, to: bytes.count, by: Self.stride) {
      crc.update(bytes[start..<min(start + Self.stride, bytes.count)])
      kept.append(crc.value)
    }
    self.kept = kept
  }

  /// The size of the image in bytes.
  package var count: Int { bytes.count }

  /// Returns the CRC32 of the first `length` bytes, 0…`count`.
  package func checksum(ofFirst length: Int) -> UInt32 {
    precondition((0...bytes.count).contains(length))
    if length == bytes.count { return kept[kept.count - 1] }
    let block = length / Self.stride
    var crc = CRC32(continuing: kept[block])
    crc.update(bytes[block * Self.stride..<length])
    return crc.value
  }
}
