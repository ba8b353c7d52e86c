#if Sites
import OtaflashFleet

/// The event log of a run compared with the entries of its devices. A coordinator records an
/// attempt before it publishes the job, so a log without the newest attempt was restored from a
/// backup.
package enum LogStanding: Hashable, Sendable {
  case current
  /// The log lacks the outcomes of attempts that it contains: the facts must be repeated.
  case behind
  /// The log lacks an attempt of this device.
  case lost(FleetDevice.ID)

  /// - Parameter jobs: the newest job of each device of the run in the bucket `STATE`.
  package init(of run: FleetRun, jobs: [(id: UpdateJob.ID, isOpen: Bool)]) {
    self = .current
    for (id, isOpen) in jobs {
      guard let device = run[id.device], device.attempts >= id.attempt else {
        self = .lost(id.device)
        return
      }
      let isExpected = device.phase == .published || device.phase.isClaimed
      if !isOpen, isExpected, device.attempts == id.attempt { self = .behind }
    }
  }
}
#endif
