import Glibc

/// A turn at files that several processes change: flock(2) on a file beside them, which the kernel
/// frees with the one that holds it.
struct FileTurn: ~Copyable {
  /// How often, and how far apart, a lock that others hold is tried.
  struct Patience: Sendable {
    let attempts: Int
    let interval: Duration

    var total: Duration { interval * (attempts - 1) }
  }

  /// Others hold a turn only while they read and write a few files.
  static let patience = Patience(attempts: 250, interval: .milliseconds(20))

  private let file: FileDescriptor

  /// Waits for the turn, which ends with this value.
  /// - Parameter path: the file that is locked; made if it is not there.
  /// - Throws: `.registryBusy` when the lock was not free within the patience.
  init(at path: String, within patience: Patience) throws(StateFault) {
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, as: .lock)
    try Self.wait(for: file.number, path, within: patience)
    self.file = file
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

  /// A signal that ends it early costs one attempt, no more.
  private static func rest(_ interval: Duration) {
    let (seconds, attoseconds) = interval.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&time, nil)
  }
}
