import OtaflashATT
import OtaflashFleet
import Synchronization

/// A notice about the host, in addition to the events of a run.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetNotice: Hashable, Sendable {
  /// No adapter is present, so no attempt starts until an adapter appears.
  case noAdapter
  /// An adapter disappeared.
  case adapterLost(String)
  /// An adapter appeared.
  case adapterBack(String)
}

/// The present adapters. The worker pool updates them, and the coordinator reads the time without
/// adapters.
final class AdapterWatch: Sendable {
  private struct State {
    /// The names of the present adapters; `nil` = not read yet.
    var present: [String]?
    var noneSince: LinkInstant?
  }

  private let state = Mutex(State())

  /// Returns the time without an adapter; `nil` if an adapter is present, or adapters were not read
  /// yet.
  func noneFor(at now: LinkInstant) -> Duration? {
    state.withLock { $0.noneSince?.duration(to: now) }
  }

  /// - Returns: the changes since the last call.
  func saw(_ adapters: [String], at now: LinkInstant) -> [FleetNotice] {
    state.withLock { state in
      let before = state.present
      guard before != adapters else { return [] }
      state.present = adapters
      let isFirst = before == nil
      let lost = (before ?? []).filter { !adapters.contains($0) }
      let back = isFirst ? [] : adapters.filter { before?.contains($0) == false }
      let isNone = adapters.isEmpty && state.noneSince == nil
      state.noneSince = adapters.isEmpty ? state.noneSince ?? now : nil
      return lost.map { .adapterLost($0) } + back.map { .adapterBack($0) }
        + (isNone ? [.noAdapter] : [])
    }
  }
}
