import Glibc

/// An open file that is closed when its owner releases it.
struct FileDescriptor: ~Copyable {
  let number: Int32

  /// Takes ownership of an open descriptor.
  init(owning number: Int32) { self.number = number }

  /// Opens a file with open(2) and O_CLOEXEC. Only the user can access a new file.
  init(opening path: String, _ flags: Int32) throws(FileErrno.Failure) {
    number = try FileErrno.checked { open(path, flags | O_CLOEXEC, 0o600) }
  }

  /// Opens a file of the state directory. Errors of a draft file contain the path of the final
  /// file.
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

  /// Returns all bytes up to the end of the file, but at most `limit` + 1.
  func read(atMost limit: Int) throws(FileErrno.Failure) -> [UInt8] {
    try Self.read(number, atMost: limit)
  }

  /// Reads all bytes of a file, a pipe or a terminal, but at most `limit` + 1. Waits for data in
  /// short steps, so that cancellation of the task ends the wait.
  /// - Parameter onSilence: called after two seconds without data, once for each such pause.
  /// - Returns: `nil` if the task was cancelled.
  /// - Throws: `ETIMEDOUT` after ten minutes without data.
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

  /// Returns all bytes from a descriptor that stays open, such as standard input, but at most
  /// `limit` + 1.
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

  /// Repeats a call while signals interrupt the call; a result of -1 is a failure. Repeated signals
  /// end the process, so the number of repetitions needs no limit.
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
