import OtaflashATT

/// What an adapter can do at the moment.
public enum AdapterState: Equatable, Sendable {
  /// The adapter is on.
  case poweredOn
  /// The adapter is off, and can be switched on.
  case poweredOff
  /// Off, and a switch keeps it off.
  case blocked(hard: Bool)
  /// Unplugged, or never there.
  case removed
}

/// What knows whether an adapter is on.
public protocol AdapterMonitor: Sendable {
  /// What `adapterStates` returns.
  associatedtype States: AsyncSequence
  where States.Element == AdapterState, States.Failure == ScanFault

  /// The adapter's state now and at every change. Ends only with an error.
  func adapterStates() -> States
}

extension AdapterMonitor {
  /// Returns when the adapter is on: at once where it is, else when somebody has switched it on.
  ///
  /// - Throws: what the monitor throws; `.cancelled` when the task was cancelled.
  public func waitUntilPoweredOn() async throws(ScanFault) {
    for try await state in adapterStates() where state == .poweredOn { return }
    throw Task.isCancelled ? .cancelled : .failed(reason: "The adapter is watched no more.")
  }

  /// As above, with a bound.
  ///
  /// - Throws: `.notFound` when the adapter was not on within `limit`.
  public func waitUntilPoweredOn(
    within limit: Duration, on clock: any LinkClock
  ) async throws(ScanFault) {
    try await withDeadline(
      clock.now.advanced(by: limit), on: clock, orThrow: ScanFault.notFound(within: limit)
    ) { () async throws(ScanFault) in try await waitUntilPoweredOn() }
  }
}
