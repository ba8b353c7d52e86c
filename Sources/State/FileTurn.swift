import Glibc

/// A lock for files that several processes change. The lock uses flock(2) on a separate file; the
/// kernel releases the lock when the holder ends.
struct FileTurn: ~Copyable {
  /// The number and interval of attempts to acquire the lock.
  struct Patience: Sendable {
    let attempts: Int
    let interval: Duration

    var total: Duration { interval * (attempts - 1) }
  }

  /// The default number and interval. They are sufficient, because processes hold the lock only
  /// while they read and write a few files.
  static let patience = Patience(attempts: 250, interval: .milliseconds(20))

  private let file: FileDescriptor

  /// Waits for the lock, which is held as long as this value exists.
  ///
  /// - Parameter path: the path of the lock file, which is created if it does not exist.
  /// - Throws: `.registryBusy` after the time limit.
  init(at path: String, within patience: Patience) throws(StateFault) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, as: .lock)
    try Self.wait(for: file.number, path, within: patience)
    self.file = file
  }

  deinit {
    // A process that was just started may have inherited the descriptor, and would otherwise hold
    // the lock until it executes its program.
    flock(file.number, LOCK_UN)
  }

  private static func wait(
    for number: Int32, _ path: String, within patience: Patience
  ) throws(StateFault) {
    for attempt in 1...patience.attempts {
      if try tryLock(number, path) { return }
      if attempt < patience.attempts { rest(patience.interval) }
    }
    throw .registryBusy(path: path, waited: patience.total)
  }

  private static func tryLock(_ number: Int32, _ path: String) throws(StateFault) -> Bool {
    do throws(FileErrno.Failure) {
      _ = try FileErrno.checked { flock(number, LOCK_EX | LOCK_NB) }
      return true
    } catch {
      guard error.errno == .wouldBlock else { throw StateFault(.lock, path: path, error.errno) }
      return false
    }
  }

  /// Waits for an interval. If a signal ends the wait early, the next attempt is only earlier.
  private static func rest(_ interval: Duration) {
    let (seconds, attoseconds) = interval.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&time, nil)
  }
}
