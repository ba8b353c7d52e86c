import Glibc

/// What is put right before the runtime starts its first thread: what comes after may rely on it.
package enum Startup {
  /// Files, sockets and timers that a command has open at once, and a few more.
  private static let descriptorsNeeded = 20
  /// Of threads' stacks and libraries; what is used of it is far less.
  private static let addressSpaceNeeded = 256 << 20
  /// EX_OSERR of sysexits(3).
  private static let failure: Int32 = 71
  /// The signals that the Swift runtime answers with a backtrace.
  private static let crashSignals = [
    SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP,
  ]

  /// Streams that the parent closed become descriptors that every use of fails as before, so that
  /// no socket takes their number and is written to by mistake.
  package static func occupyStandardStreams() {
    for (number, mode) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(number, F_GETFD) == -1 {
      // The lowest free number is this one, as those below are taken.
      guard open("/dev/null", mode) == number else { _exit(failure) }
    }
  }

  /// A backtrace shows memory, and keys may lie there. Whoever looks for an error sets
  /// SWIFT_BACKTRACE.
  package static func turnBacktracesOff(environment: [String: String]) {
    guard environment["SWIFT_BACKTRACE"] == nil else { return }
    for number in crashSignals where !SignalDisposition.isIgnored(number) {
      signal(number, SIG_DFL)
    }
  }

  /// Lifts the limits as far as the parent permits; what is still short.
  package static func shortage() -> ResourceShortage? {
    lift(RLIMIT_NOFILE.identifier, to: rlim_t(descriptorsNeeded * 4))
    let space = lift(RLIMIT_AS.identifier, to: rlim_t(addressSpaceNeeded))
    if space < rlim_t(addressSpaceNeeded) {
      return .addressSpace(limit: Int(space), needed: addressSpaceNeeded)
    }
    let free = freeDescriptors(upTo: descriptorsNeeded)
    return free < descriptorsNeeded ? .descriptors(free: free, needed: descriptorsNeeded) : nil
  }

  /// The limit as it is then.
  @discardableResult
  private static func lift(_ resource: LimitIdentifier, to wanted: rlim_t) -> rlim_t {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return .max }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    // Refused or not, the process goes by what it may.
    _ = setrlimit(resource, &limit)
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : .max
  }

  /// A limit says nothing of what the parent left open, so it is tried.
  private static func freeDescriptors(upTo count: Int) -> Int {
    var taken: [Int32] = []
    while taken.count < count {
      let number = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
      guard number >= 0 else { break }
      taken.append(number)
    }
    for number in taken { close(number) }
    return taken.count
  }
}

/// How getrlimit(2) numbers the limits; the C library makes an enumeration of them.
package typealias LimitIdentifier = __rlimit_resource_t

extension __rlimit_resource {
  fileprivate var identifier: LimitIdentifier { LimitIdentifier(rawValue) }
}

package enum SignalDisposition {
  /// The parent made this process ignore the signal (nohup, a shell's background jobs).
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
