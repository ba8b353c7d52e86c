import Glibc

/// An open file descriptor with one owner, closed when the owner lets go of it.
struct FileDescriptor: ~Copyable, Sendable {
  let raw: Int32

  init(owning raw: Int32) { self.raw = raw }

  /// Owns what a system call returned, or throws the error it left behind.
  init(result raw: Int32) throws(SystemError) {
    guard raw >= 0 else { throw SystemError(errno) }
    self.raw = raw
  }

  deinit {
    // Linux frees the descriptor even when close reports an error, so there is nothing to repeat.
    _ = close(raw)
  }
}

/// The error number of a failed system call, taken before another call can replace it.
struct SystemError: Error, Equatable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  /// The kernel's own words, such as `Connection refused`.
  var text: String { String(cString: strerror(number)) }
}
