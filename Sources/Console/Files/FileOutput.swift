import Glibc

/// Writes complete data to an open file descriptor, which it does not close.
package struct FileOutput: Sendable {
  package static let standardOutput = FileOutput(descriptor: STDOUT_FILENO)
  package static let standardError = FileOutput(descriptor: STDERR_FILENO)

  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }

  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Whether the descriptor accepts output now.
  package var isWritable: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// Returns whether two descriptors refer to the same file, pipe or terminal, even if each was
  /// opened separately.
  package func isSameFile(as other: FileOutput) -> Bool {
    var (own, others) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, fstat(other.descriptor, &others) == 0 else { return false }
    return own.st_dev == others.st_dev && own.st_ino == others.st_ino
  }

  /// The terminal's width; 80 without a terminal.
  package var columns: Int { size.flatMap { $0.ws_col > 0 ? Int($0.ws_col) : nil } ?? 80 }

  /// The terminal's height; 24 without a terminal.
  package var rows: Int { size.flatMap { $0.ws_row > 0 ? Int($0.ws_row) : nil } ?? 24 }

  private var size: winsize? {
    var size = winsize()
    return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 ? size : nil
  }

  /// Writes all of `text`; returns the errno of the write that failed, or `nil`.
  package func write(_ text: String) -> Int32? {
    var text = text
    return text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes all of `bytes`; returns the errno of the write that failed, or `nil`.
  package func write(_ bytes: [UInt8]) -> Int32? { bytes.withUnsafeBytes { write($0) } }

  private func write(_ bytes: UnsafeRawBufferPointer) -> Int32? {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        waitUntilWritable()
        continue
      }
      if count < 0 { return errno }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return nil
  }

  /// Waits until the descriptor accepts output. The pipe may be shared with the parent process,
  /// which may have made the pipe non-blocking.
  private func waitUntilWritable() {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&entry, 1, -1)
  }
}
