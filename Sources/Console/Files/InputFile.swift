import Glibc

/// A small input file of the command line: a regular file, a pipe or a device. Reading a pipe or a
/// device has a time limit, and ends when the run is stopped.
package struct InputFile: Sendable {
  /// The default time limit for a pipe or a device without data.
  package static let patience = Duration.seconds(10)
  private static let pollMilliseconds: Int32 = 100
  private static let readSize = 1 << 16

  package let path: String
  /// The maximum size in bytes. If the file is larger, only `limit` + 1 bytes are read.
  package let limit: Int
  package var patience = Self.patience

  package init(path: String, limit: Int, patience: Duration = Self.patience) {
    self.path = path
    self.limit = limit
    self.patience = patience
  }

  /// Reads the file.
  ///
  /// - Parameter admits: checks the open file before it is read.
  /// - Returns: all bytes, or the first `limit` + 1.
  package func read<Fault: Error>(
    _ wrap: (FileFault) -> Fault, admits: (stat) throws(Fault) -> Void
  ) throws(Fault) -> [UInt8] {
    // Without O_NONBLOCK, opening a pipe without a writer would block.
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw wrap(errno == ENOENT ? .missing(path: path) : .unreadable(path: path, errno: errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw wrap(.unreadable(path: path, errno: errno))
    }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw wrap(.isDirectory(path: path)) }
    try admits(status)
    do throws(FileFault) { return try content(of: descriptor) } catch { throw wrap(error) }
  }

  package func read() throws(FileFault) -> [UInt8] {
    try read({ $0 }, admits: { (_: stat) throws(FileFault) in })
  }

  /// Reads the file, and refuses a file with more than `limit` bytes.
  package func readComplete() throws(FileFault) -> [UInt8] {
    let content = try read()
    guard content.count <= limit else { throw .tooLarge(path: path, limit: limit) }
    return content
  }

  /// Returns whether reading the file may wait: it is neither a regular file nor a directory.
  package static func isNoRegularFile(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  private func content(of descriptor: Int32) throws(FileFault) -> [UInt8] {
    var content: [UInt8] = []
    var part = [UInt8](repeating: 0, count: Self.readSize)
    while content.count <= limit {
      try waitForInput(descriptor)
      let count = Glibc.read(descriptor, &part, min(part.count, limit + 1 - content.count))
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw .unreadable(path: path, errno: errno) }
      if count == 0 { break }
      content += part[..<count]
    }
    return content
  }

  /// Waits for input or the end of the file. Each received byte restarts the time limit.
  private func waitForInput(_ descriptor: Int32) throws(FileFault) {
    let deadline = ContinuousClock.now + patience
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, Self.pollMilliseconds) == 0 {
      guard !Task.isCancelled else { throw .interrupted(path: path) }
      guard ContinuousClock.now < deadline else {
        throw .silent(path: path, waited: patience)
      }
    }
  }
}
