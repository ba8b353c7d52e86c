import Glibc

/// Prepares the process before the Swift runtime starts its first thread.
package enum Startup {
  /// The number of files, sockets and timers that a command opens at the same time, plus a reserve.
  private static let descriptorsNeeded = 20
  /// The address space for the stacks of threads and for libraries; the memory in use is far less.
  private static let addressSpaceNeeded = 256 << 20
  /// The exit code EX_OSERR of sysexits(3).
  private static let failure: Int32 = 71
  /// The signals for which the Swift runtime prints a backtrace.
  private static let crashSignals = [
    SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP,
  ]

  /// Reserves the descriptors of streams that the parent closed. Using these streams still fails,
  /// but no socket receives their number and is written to by mistake.
  package static func occupyStandardStreams() {
    for (number, mode) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY),
    ] where fcntl(number, F_GETFD) == -1 {
      // This number is the lowest free number, because all lower numbers are in use.
      guard open("/dev/null", mode) == number else { _exit(failure) }
    }
  }

  /// Disables backtraces, because they show memory that may contain keys. Set SWIFT_BACKTRACE to
  /// debug.
  package static func turnBacktracesOff(environment: [String: String]) {
    guard environment["SWIFT_BACKTRACE"] == nil else { return }
    for number in crashSignals where !SignalDisposition.isIgnored(number) {
      signal(number, SIG_DFL)
    }
  }

  /// Raises the limits as far as the parent permits. Returns the shortage that remains; `nil` if
  /// the resources are sufficient.
  package static func shortage() -> ResourceShortage? {
    lift(RLIMIT_NOFILE.identifier, to: rlim_t(descriptorsNeeded * 4))
    let space = lift(RLIMIT_AS.identifier, to: rlim_t(addressSpaceNeeded))
    if space < rlim_t(addressSpaceNeeded) {
      return .addressSpace(limit: Int(space), needed: addressSpaceNeeded)
    }
    let free = freeDescriptors(upTo: descriptorsNeeded)
    return free < descriptorsNeeded ? .descriptors(free: free, needed: descriptorsNeeded) : nil
  }

  /// Raises a limit as far as the parent permits; returns the resulting limit, or `.max` if the
  /// limit was sufficient or is unknown.
  @discardableResult
  private static func lift(_ resource: LimitIdentifier, to wanted: rlim_t) -> rlim_t {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < wanted else { return .max }
    limit.rlim_cur = min(wanted, limit.rlim_max)
    // If the change is refused, the current limit still applies.
    _ = setrlimit(resource, &limit)
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : .max
  }

  /// Returns the number of descriptors, at most `count`, that can still be opened. Opens
  /// descriptors as a test, because the limit does not reveal the number of descriptors that the
  /// parent left open.
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

/// The type of the limits of getrlimit(2), which the C library declares as an enumeration.
package typealias LimitIdentifier = __rlimit_resource_t

extension __rlimit_resource {
  fileprivate var identifier: LimitIdentifier { LimitIdentifier(rawValue) }
}

package enum SignalDisposition {
  /// Returns whether the parent set the signal to be ignored by this process (nohup, a shell's
  /// background jobs).
  package static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
  }
}
