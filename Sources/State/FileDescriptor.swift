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

  func isRegular() throws(FileErrno.Failure) -> Bool {
    var status = stat()
    let number = number
    _ = try FileErrno.checked { fstat(number, &status) }
    return status.st_mode & S_IFMT == S_IFREG
  }

  /// All bytes up to the end; with `limit` or more of them, the first `limit` + 1.
  func read(atMost limit: Int) throws(FileErrno.Failure) -> [UInt8] {
    try Self.read(number, atMost: limit)
  }

  /// The same of what may be a pipe or a terminal: waits for the first bytes and for the next ones
  /// in short steps, which the task's cancellation ends.
  /// - Parameter onSilence: told once, when nothing has come for two seconds.
  /// - Returns: `nil` when the task was cancelled.
  /// - Throws: `ETIMEDOUT` when nothing came for ten minutes.
  static func read(
    waitingOn number: Int32, atMost limit: Int, onSilence: () -> Void
  ) throws(FileErrno.Failure) -> [UInt8]? {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: min(limit + 1, 1 << 16))
    var silentSteps = 0
    while bytes.count <= limit {
      if Task.isCancelled { return nil }
      var polled = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      let ready = try FileErrno.checked { poll(&polled, 1, Int32(stepMilliseconds)) }
      guard ready > 0 else {
        silentSteps += 1
        if silentSteps == silentStepsTold { onSilence() }
        guard silentSteps < silentStepsMaximum else { throw FileErrno.Failure(errno: .timedOut) }
        continue
      }
      silentSteps = 0
      guard polled.revents & Int16(POLLNVAL) == 0 else {
        throw FileErrno.Failure(errno: .badDescriptor)
      }
      let wanted = min(part.count, limit + 1 - bytes.count)
      let count = try FileErrno.checked { Glibc.read(number, &part, wanted) }
      if count == 0 { break }
      bytes += part[..<count]
    }
    return bytes
  }

  private static let stepMilliseconds = 100
  private static let silentStepsTold = 2000 / stepMilliseconds
  private static let silentStepsMaximum = 600_000 / stepMilliseconds

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
