import Glibc

/// An open file descriptor with one owner, closed when the owner releases it.
struct FileDescriptor: ~Copyable, Sendable {
  let raw: Int32

  init(owning raw: Int32) { self.raw = raw }

  /// Takes ownership of the result of a system call, or throws the call's error.
  init(result raw: Int32) throws(SystemError) {
    guard raw >= 0 else { throw SystemError(errno) }
    self.raw = raw
  }

  deinit {
    // Linux frees the descriptor even if close reports an error, so close is not repeated.
    _ = close(raw)
  }
}

/// The error number of a failed system call. Create this value before another call can replace
/// `errno`.
struct SystemError: Error, Equatable {
  let number: Int32

  init(_ number: Int32) { self.number = number }

  /// The message of the C library, such as `Connection refused`.
  var text: String { String(cString: strerror(number)) }
}
