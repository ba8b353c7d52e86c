import OtaflashGATT

/// The files of a device with the file transfer service, on one connection.
struct RemoteFiles: Sendable {
  /// The maximum number of successive answers to `read` without a byte before the end of the file.
  private static let emptyReadsMaximum = 5

  /// The comparison of a file on the device with the bytes that it should contain.
  enum Comparison: Equatable, Sendable {
    case absent
    case equal
    /// The file is shorter, and contains the first bytes; the value is their number.
    case prefix(Int)
    case different
  }

  let channel: FileTransferChannel

  /// Compares a file with `bytes` from `start` on. The first difference ends the comparison.
  func compare(
    _ path: String, with bytes: [UInt8], from start: Int = 0, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Comparison {
    var offset = start
    var total: Int?
    var emptyReads = 0
    while true {
      let rest = (total ?? bytes.count) - offset
      // A watch whose answer would have no bytes is not asked for 0 bytes, because it would declare
      // an array without elements.
      let count = max(1, min(channel.contentMaximum, rest))
      let reply = try await channel.ask(.read(path: path, offset: offset, count: count), stage)
      guard case .content(let status, _, let size, let content) = reply.answer else {
        preconditionFailure("the channel returns only answers to the request")
      }
      if status.isNoFile { return .absent }
      guard status == .success else { throw .declined(stage, status.inWords(of: path)) }
      guard size <= bytes.count, size >= start, size == total ?? size else { return .different }
      total = size
      let end = offset + content.count
      guard end <= size, content.elementsEqual(bytes[offset..<end]) else { return .different }
      offset = end
      if offset == size { return size == bytes.count ? .equal : .prefix(size) }
      emptyReads = content.isEmpty ? emptyReads + 1 : 0
      guard emptyReads < Self.emptyReadsMaximum else {
        throw .noProgress(atOffset: offset, repeats: emptyReads)
      }
    }
  }

  /// Writes `bytes` from `start` on to a file that contains exactly the bytes before `start`, or
  /// that does not exist.
  ///
  /// - Parameter acknowledged: called with the end of the bytes that the device has stored.
  func write(
    _ bytes: [UInt8], from start: Int, to path: String,
    acknowledged: (Int) -> Void
  ) async throws(UpdateFault) {
    let opened = try await channel.ask(
      .write(path: path, offset: start, size: bytes.count), .upload)
    guard case .pacing(let status, _, let free) = opened.answer else {
      preconditionFailure("the channel returns only answers to the request")
    }
    guard status == .success else { throw .declined(.upload, status.inWords(of: path)) }
    guard free >= bytes.count - start else {
      throw .declined(.upload, .noSpace(free: free, needed: bytes.count - start, path: path))
    }
    var offset = start
    while offset < bytes.count {
      let end = min(offset + channel.dataMaximum, bytes.count)
      let reply = try await channel.ask(.data(offset: offset, bytes: bytes[offset..<end]), .upload)
      channel.context.sent((end - offset) * reply.tries)
      let status = reply.answer.status
      if status.isKnownError, try await size(of: path, .upload) < end {
        throw .declined(.upload, status.inWords(of: path))
      }
      offset = end
      acknowledged(offset)
    }
  }

  /// Returns the size of a file in bytes; 0 if there is no file.
  private func size(of path: String, _ stage: UpdateStage) async throws(UpdateFault) -> Int {
    let reply = try await channel.ask(.read(path: path, offset: 0, count: 1), stage)
    guard case .content(.success, _, let total, _) = reply.answer else { return 0 }
    return total
  }

  /// Deletes a file. Returns `false` if there was no file.
  func delete(_ path: String, _ stage: UpdateStage) async throws(UpdateFault) -> Bool {
    let reply = try await channel.ask(.delete(path: path), stage)
    // The answer to an earlier transmission, which deleted the file, may have been lost.
    if reply.answer.status.isNoFile { return reply.tries > 1 }
    try require(reply, of: path, stage)
    return true
  }

  /// Creates the directories of the path of a file.
  func makeDirectories(of path: String, _ stage: UpdateStage) async throws(UpdateFault) {
    let parts = path.split(separator: "/").dropLast()
    for count in parts.indices.map({ $0 + 1 }) {
      let directory = "/" + parts.prefix(count).joined(separator: "/")
      let reply = try await channel.ask(.makeDirectory(path: directory), stage)
      if reply.answer.status != .exists { try require(reply, of: directory, stage) }
    }
  }

  /// Moves a file, and replaces an existing file in one step. Returns `false` if the file was not
  /// found after the request was repeated: an earlier transmission may have moved it.
  func move(
    _ path: String, to target: String, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Bool {
    let reply = try await channel.ask(.move(from: path, to: target), stage)
    if reply.answer.status.isNoFile, reply.tries > 1 { return false }
    try require(reply, of: target, stage)
    return true
  }

  private func require(
    _ reply: FileTransferChannel.Reply, of path: String, _ stage: UpdateStage
  ) throws(UpdateFault) {
    guard reply.answer.status == .success else {
      throw .declined(stage, reply.answer.status.inWords(of: path))
    }
  }
}
