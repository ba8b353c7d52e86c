import OtaflashATT

/// The one source of time and of chance for everything above the transport.
///
/// `EventLoopClock` runs on the kernel's monotonic clock and draws the system's random numbers; the
/// simulation's clock jumps from timer to timer, and its numbers follow from a seed. No library
/// code asks anything else.
public protocol LinkClock: Clock where Instant == LinkInstant, Duration == Swift.Duration {
  /// A random number, 0 ..< 1, for waits that must not be alike on many hosts.
  func randomFraction() -> Double
}

extension LinkClock {
  /// Sleeps for `duration`. Returns `false` at once when the task is cancelled: a cancelled sleep
  /// is an expected end of a wait, not a failure of the caller.
  @discardableResult
  public func pause(for duration: Duration) async -> Bool {
    await pause(until: now.advanced(by: duration))
  }

  /// Sleeps until `deadline`; `false` when the task was cancelled first.
  @discardableResult
  public func pause(until deadline: LinkInstant) async -> Bool {
    do {
      try await sleep(until: deadline, tolerance: nil)
      return true
    } catch {
      return false
    }
  }
}
