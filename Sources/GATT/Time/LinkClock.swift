import OtaflashATT

/// The only source of time and of randomness for all code above the transport.
///
/// `EventLoopClock` uses the kernel's monotonic clock and the system's random numbers. The clock of
/// the simulation advances from timer to timer, and a seed determines its numbers. Library code
/// uses no other source.
public protocol LinkClock: Clock where Instant == LinkInstant, Duration == Swift.Duration {
  /// Returns a random number, 0 ..< 1, for waits that must differ between hosts.
  func randomFraction() -> Double
}

extension LinkClock {
  /// Sleeps for `duration`. Returns `false` immediately if the task is cancelled: a cancelled sleep
  /// is the expected end of a wait, not a failure of the caller.
  @discardableResult
  public func pause(for duration: Duration) async -> Bool {
    await pause(until: now.advanced(by: duration))
  }

  /// Sleeps until `deadline`; returns `false` if the task was cancelled first.
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
