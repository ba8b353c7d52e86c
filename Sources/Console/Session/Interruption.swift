import Glibc
import Synchronization

/// The signals that end or stop this process. The first SIGINT, SIGTERM or SIGHUP requests that the
/// running work stops at a safe point. A second signal kills the process by that signal. The
/// process is also killed if the run has not ended after two seconds. An immediate repetition of
/// the same signal by a program is ignored, because timeout(1) sends the signal to its child and
/// also to the group of the child. All other signals that end a process do so immediately. The
/// terminal is restored before the process ends.
package final class Interruption: Sendable {
  private struct State {
    var signal: Int32?
    var stop: (@Sendable () -> Void)?
  }

  /// The time limit for the running work. This limit and the following wait for a terminal that
  /// accepts no output take two seconds together.
  private static let grace = Duration.milliseconds(1900)
  private static let echo = Duration.seconds(1)
  private static let polite = [SIGINT, SIGTERM, SIGHUP]
  /// The signals that end the process without a message, except for the signals of faults in the
  /// process.
  private static let immediate = [
    SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGIO, SIGPWR, SIGSTKFLT,
  ]

  private let state = Mutex(State())
  private let terminal = Mutex<(leave: @Sendable () -> Void, comeBack: @Sendable () -> Void)>(
    ({}, {}))

  package init() {}

  /// The signal that requested the end of this process; `nil` if there was none.
  package var signal: Int32? { state.withLock { $0.signal } }

  /// Runs an action once at the first signal; immediately if the signal has already arrived.
  package func onFirstSignal(_ stop: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      state.stop = stop
      return state.signal != nil
    }
    if isLate { stop() }
  }

  /// Sets the actions that restore the terminal before the process ends or stops (SIGTSTP), and the
  /// action that runs when the process continues.
  package func onLeaving(
    _ leave: @escaping @Sendable () -> Void, onReturn comeBack: @escaping @Sendable () -> Void
  ) {
    terminal.withLock { $0 = (leave, comeBack) }
  }

  /// Blocks the signals in every thread that is created after the call, and waits for them in a
  /// separate thread, which works even if every other thread is blocked. A signal that the parent
  /// process set to be ignored (nohup, a shell's background jobs) stays ignored.
  package func watch() {
    // A failed write to a closed pipe, or a write that exceeds a size limit, is handled as an
    // ordinary error.
    for number in [SIGPIPE, SIGXFSZ] { Glibc.signal(number, SIG_IGN) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in Self.polite + Self.immediate + [SIGTSTP]
    where !SignalDisposition.isIgnored(number) {
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

  /// Ends the process by `number`, so that a calling shell detects the signal and stops its loop.
  /// The signal is sent only to this thread, because a signal to the process could be received by
  /// the thread that waits for a second signal. No core is written: an external signal is not an
  /// error of the program, and memory may contain keys.
  package static func die(by number: Int32) -> Never {
    var none = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(LimitIdentifier(RLIMIT_CORE.rawValue), &none)
    deliver(number)
    _exit(128 + number)
  }

  /// Sends the signal to this thread, with the default action.
  private static func deliver(_ number: Int32) {
    Glibc.signal(number, SIG_DFL)
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, number)
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(number)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private final class Watch: Sendable {
    let interruption: Interruption
    let signals: sigset_t

    init(interruption: Interruption, signals: sigset_t) {
      self.interruption = interruption
      self.signals = signals
    }

    func run() {
      guard let first = ending(within: nil)?.number else { return }
      let began = ContinuousClock.now
      guard Interruption.polite.contains(first) else { die(by: first) }
      let stop = interruption.state.withLock { state in
        state.signal = first
        return state.stop
      }
      stop?()
      while let next = ending(within: began + Interruption.grace) {
        let isEcho = next.number == first && next.isFromProgram
        guard isEcho, .now - began < Interruption.echo else { die(by: next.number) }
      }
      die(by: first)
    }

    /// Returns the next signal that ends the process; `nil` if none arrives in time.
    private func ending(
      within deadline: ContinuousClock.Instant?
    ) -> (number: Int32, isFromProgram: Bool)? {
      while true {
        var origin = siginfo_t()
        let number = next(&origin, before: deadline)
        if number == SIGTSTP {
          suspend()
        } else if number > 0 {
          // Signals from the keyboard are sent by the kernel.
          return (number, origin.si_code == SI_USER)
        } else if errno != EINTR {
          // Stopping and continuing the process interrupts the wait, which then resumes.
          return nil
        }
      }
    }

    private func next(
      _ origin: inout siginfo_t, before deadline: ContinuousClock.Instant?
    ) -> Int32 {
      var signals = signals
      guard let deadline else { return sigwaitinfo(&signals, &origin) }
      let left = max(ContinuousClock.now.duration(to: deadline), .zero)
      let (seconds, fraction) = left.components
      var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int(fraction / 1_000_000_000))
      return sigtimedwait(&signals, &origin, &limit)
    }

    /// Stops the process as requested at the terminal; returns after the process was continued.
    private func suspend() {
      let terminal = interruption.terminal.withLock { $0 }
      terminal.leave()
      Interruption.deliver(SIGTSTP)
      terminal.comeBack()
    }

    private func die(by number: Int32) -> Never {
      interruption.terminal.withLock { $0 }.leave()
      Interruption.die(by: number)
    }
  }
}
