import COtaflashZlib

/// Decompression of deflated data (RFC 1951) without a zlib or gzip header.
enum Inflate {
  /// Decompresses data that must end at its last byte and yield exactly `count` bytes. Allocates
  /// only these bytes and zlib's window.
  /// - Returns: `nil` if the data does not meet these conditions.
  static func bytes(of packed: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
    // The buffer has one more byte than stated, to detect longer data.
    guard let packedCount = UInt32(exactly: packed.count), let room = UInt32(exactly: count + 1)
    else { return nil }
    // zlib's state contains a pointer to the stream, so the stream must not move.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    let size = Int32(MemoryLayout<z_stream>.size)
    // A negative window size means raw data without a header.
    guard inflateInit2_(stream, -MAX_WBITS, ZLIB_VERSION, size) == Z_OK else { return nil }
    defer { inflateEnd(stream) }
    var bytes = [UInt8](repeating: 0, count: count + 1)
    let isWhole = packed.withUnsafeBufferPointer { input in
      bytes.withUnsafeMutableBufferPointer { output in
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        stream.pointee.avail_in = packedCount
        stream.pointee.next_out = output.baseAddress
        stream.pointee.avail_out = room
        return inflate(stream, Z_FINISH) == Z_STREAM_END && stream.pointee.avail_in == 0
          && stream.pointee.avail_out == 1
      }
    }
    guard isWhole else { return nil }
    bytes.removeLast()
    return bytes
  }
}
