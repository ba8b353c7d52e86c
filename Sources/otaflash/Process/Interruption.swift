import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP. The first asks the running work to stop at a safe point; a second
/// one, or two seconds without an end, kills the process by that signal.
final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var stop: (@Sendable () -> Void)?
  }

  private static let graceSeconds = 2

  private let state = Mutex(State())
  private let beforeDeath = Mutex<@Sendable () -> Void>({})

  /// The signal that asked this process to end, if one did.
  var signal: Int32? { state.withLock { $0.signal } }

  /// Runs once at the first signal; at once when it has already come.
  func onFirstSignal(_ stop: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.stop = stop
      return state.signal != nil
    }
    if isLate { stop() }
  }

  /// What must be done even when the process is killed by a second signal.
  func onDeath(_ restore: @escaping @Sendable () -> Void) { beforeDeath.withLock { $0 = restore } }

  /// Blocks the signals in every thread that is created from now on, and waits for them in one of
  /// its own: it works even when every other thread is stuck. A signal that the parent made this
  /// process ignore (nohup, a shell's background jobs) stays ignored.
  func watch() {
    Glibc.signal(SIGPIPE, SIG_IGN)
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      sigaddset(&signals, number)
    }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let context = Unmanaged.passRetained(Watch(interruption: self, signals: signals))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Watch>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard status == 0 else {
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      context.release()
      return
    }
    pthread_detach(thread)
  }

  /// Dies by `number`, so that a calling shell sees it and stops its loop. The signal is sent to
  /// this thread alone: one sent to the process could be taken by the thread that waits for a second.
  static func die(by number: Int32) -> Never {
    Glibc.signal(number, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
    _exit(128 + number)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }

  private final class Watch: Sendable {
    let interruption: Interruption
    let signals: sigset_t

    init(interruption: Interruption, signals: sigset_t) {
      self.interruption = interruption
      self.signals = signals
    }

    func run() {
      var signals = signals
      var first: Int32 = 0
      guard sigwait(&signals, &first) == 0 else { return }
      let stop = interruption.state.withLock { state in
        state.signal = first
        return state.stop
      }
      stop?()
      var grace = timespec(tv_sec: Interruption.graceSeconds, tv_nsec: 0)
      let second = sigtimedwait(&signals, nil, &grace)
      interruption.beforeDeath.withLock { $0 }()
      Interruption.die(by: second > 0 ? second : first)
    }
  }
}
