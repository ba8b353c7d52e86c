import OtaflashATT
import Synchronization

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
  associatedtype States: AsyncSequence & Sendable
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
  /// - Throws: `.adapterUnavailable` when the adapter was not on within `limit`, with what helps in
  ///   the state it was in; else as above.
  public func waitUntilPoweredOn(
    within limit: Duration, on clock: any LinkClock
  ) async throws(ScanFault) {
    let latest = Mutex(AdapterState.poweredOff)
    do throws(ScanFault) {
      try await withDeadline(
        clock.now.advanced(by: limit), on: clock, orThrow: .notFound(within: limit)
      ) { () async throws(ScanFault) in
        for try await state in adapterStates() {
          if state == .poweredOn { return }
          latest.withLock { $0 = state }
        }
        throw Task.isCancelled ? .cancelled : .failed(reason: "The adapter is watched no more.")
      }
    } catch .notFound {
      throw .adapterUnavailable(
        cause: "The adapter was not switched on within \(limit).",
        remedy: latest.withLock(\.remedy))
    }
  }
}

extension AdapterState {
  /// What makes an adapter of this state one that is on.
  fileprivate var remedy: Remedy {
    switch self {
    case .poweredOn: .tryAgain
    case .poweredOff: .turnAdapterOn(adapter: nil)
    case .blocked(hard: false): .unblockAdapter
    case .blocked(hard: true): .flipSwitch
    case .removed: .plugInAdapter
    }
  }
}
