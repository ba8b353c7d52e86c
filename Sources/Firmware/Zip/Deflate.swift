import COtaflashZlib

/// Compression as in RFC 1951, for estimates.
package enum Deflate {
  /// Returns the size in bytes of the data after compression with zlib's highest level and zlib's
  /// header; `nil` if the data is too large for zlib.
  package static func size(of bytes: [UInt8]) -> Int? {
    guard let count = uLong(exactly: bytes.count) else { return nil }
    var size = compressBound(count)
    var packed = [UInt8](repeating: 0, count: Int(size))
    guard compress2(&packed, &size, bytes, count, Z_BEST_COMPRESSION) == Z_OK else { return nil }
    return Int(size)
  }
}
