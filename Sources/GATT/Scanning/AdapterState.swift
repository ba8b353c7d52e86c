import OtaflashATT
import Synchronization

/// The current state of an adapter.
public enum AdapterState: Equatable, Sendable {
  /// The adapter is on.
  case poweredOn
  /// The adapter is off, and can be switched on.
  case poweredOff
  /// The adapter is off, and a switch keeps it off: a hardware switch if `hard` is `true`,
  /// otherwise a software switch.
  case blocked(hard: Bool)
  /// The adapter was unplugged, or does not exist.
  case removed
}

/// A source of adapter states.
public protocol AdapterMonitor: Sendable {
  /// The result of `adapterStates`.
  associatedtype States: AsyncSequence & Sendable
  where States.Element == AdapterState, States.Failure == ScanFault

  /// Returns the adapter's current state, followed by every change. The sequence ends only with an
  /// error.
  func adapterStates() -> States
}

extension AdapterMonitor {
  /// Returns when the adapter is on: immediately if it is already on, otherwise after it has been
  /// switched on.
  ///
  /// - Throws: the monitor's error; `.cancelled` if the task was cancelled.
  public func waitUntilPoweredOn() async throws(ScanFault) {
    for try await state in adapterStates() where state == .poweredOn { return }
    throw Task.isCancelled ? .cancelled : .failed(reason: "Monitoring of the adapter ended.")
  }

  /// Returns when the adapter is on, within a time limit.
  ///
  /// - Throws: `.adapterUnavailable` with a remedy for the adapter's state if the adapter was not
  ///   on within `limit`; the monitor's error; `.cancelled` if the task was cancelled.
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
        throw Task.isCancelled ? .cancelled : .failed(reason: "Monitoring of the adapter ended.")
      }
    } catch .notFound {
      throw .adapterUnavailable(
        cause: "The adapter was not switched on within \(limit).",
        remedy: latest.withLock(\.remedy))
    }
  }
}

extension AdapterState {
  /// The remedy for an adapter in this state.
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
