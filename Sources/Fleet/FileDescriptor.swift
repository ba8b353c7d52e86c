import Glibc

/// An open file that closes itself.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes over an open descriptor.
  init(owning number: Int32) { self.number = number }

  /// open(2), with O_CLOEXEC. New files are for the user alone.
  init(opening path: String, _ flags: Int32) throws(FileErrno.Failure) {
    number = try FileErrno.checked { open(path, flags | O_CLOEXEC, 0o600) }
  }

  /// The same, for a file of ours. A draft is named by the file it is for.
  init(
    opening path: String, for target: String? = nil, _ flags: Int32, as operation: FileOperation
  ) throws(StateFault) {
    do throws(FileErrno.Failure) {
      self = try FileDescriptor(opening: path, flags)
    } catch {
      throw StateFault(operation, path: target ?? path, error.errno)
    }
  }

  deinit { close(number) }

  /// All bytes up to the end; with `limit` or more of them, the first `limit` + 1.
  func read(atMost limit: Int) throws(FileErrno.Failure) -> [UInt8] {
    try Self.read(number, atMost: limit)
  }

  /// The same of a descriptor that stays open, such as standard input.
  static func read(_ number: Int32, atMost limit: Int) throws(FileErrno.Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit + 1, 1 << 16))
    while bytes.count <= limit {
      let wanted = min(part.count, limit + 1 - bytes.count)
      let count = try FileErrno.checked { Glibc.read(number, &part, wanted) }
      if count == 0 { break }
      bytes += part[..<count]
    }
    return bytes
  }
}

extension FileErrno {
  /// A failed system call.
  struct Failure: Error, Equatable {
    let errno: FileErrno
  }

  /// Calls until it is not interrupted by a signal; -1 is a failure. A signal that comes again and
  /// again ends the process by itself, so this needs no bound of its own.
  static func checked<Result: BinaryInteger>(
    _ call: () -> Result
  ) throws(Failure) -> Result {
    while true {
      let result = call()
      if result != -1 { return result }
      if FileErrno.current != .interrupted { throw Failure(errno: .current) }
    }
  }
}
