import OtaflashATT
import OtaflashFleet
import Synchronization

/// What a run has to say of this machine, beside its events.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetNotice: Hashable, Sendable {
  /// No adapter is there: nothing is begun until one is.
  case noAdapter
  case adapterLost(String)
  /// One that was lost, or that is new.
  case adapterBack(String)
}

/// Which adapters come and go: the worker pool looks, and the coordinator wants to know since when
/// there is none.
final class AdapterWatch: Sendable {
  private struct State {
    /// `nil` = nobody has looked yet.
    var present: [String]?
    var noneSince: LinkInstant?
  }

  private let state = Mutex(State())

  /// For how long there has been no adapter; `nil` where there is one, or nobody has looked yet.
  func noneFor(at now: LinkInstant) -> Duration? {
    state.withLock { $0.noneSince?.duration(to: now) }
  }

  /// - Returns: what has changed since the last look.
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
