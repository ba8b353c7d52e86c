import OtaflashWire

/// The number of data bytes in each request of a transfer.
protocol SMPRequestSize: Equatable, Sendable {
  /// The maximum length of a request in bytes, including its header.
  var bytes: Int { get }

  /// Returns the number of data bytes in the request at `offset`, for `total` bytes and a server
  /// that accepts only complete units.
  func data(at offset: Int, of total: Int, to unit: SMPWriteUnit) -> Int
}

extension SMPRequestSize {
  /// Returns the maximum length of the byte string in a request of `bytes` bytes; 0 if not even one
  /// byte fits.
  ///
  /// - Parameter empty: the request with an empty string.
  static func room(in bytes: Int, besides empty: some SMPRequest) -> Int {
    // The encoded size includes the head of an empty string, which is one byte.
    let room = bytes - SMPMessage(empty, sequence: 0).encoded.count + 1
    // CBOR encodes lengths up to 23 in one byte, up to 255 in two, up to 65535 in three.
    let fitting = [(head: 1, most: 23), (2, 255), (3, 65535)].map { min(room - $0.head, $0.most) }
    return max(0, fitting.max() ?? 0)
  }
}

/// The sizes of requests that write a file. Each request contains the path.
struct SMPFileWriteSize: SMPRequestSize {
  let bytes: Int
  let path: String

  func data(at offset: Int, of total: Int, to unit: SMPWriteUnit) -> Int {
    let empty = SMPFiles.Upload(
      name: path, offset: offset, data: [], length: offset == 0 ? total : nil)
    return min(total - offset, Self.room(in: bytes, besides: empty))
  }

  /// Returns the length in bytes of the shortest request at offset 0 with data.
  static func least(for path: String, total: Int) -> Int {
    let first = SMPFiles.Upload(name: path, offset: 0, data: [0], length: total)
    return SMPMessage(first, sequence: 0).encoded.count
  }
}

/// The sizes of responses that contain a part of a file. The server determines the number of bytes,
/// which the host learns from the first response.
struct SMPFileReadSize: SMPRequestSize {
  let bytes: Int
  /// The number of bytes in each response except the last, 1 or more.
  var chunk: Int

  func data(at offset: Int, of total: Int, to unit: SMPWriteUnit) -> Int {
    min(total - offset, chunk)
  }
}
