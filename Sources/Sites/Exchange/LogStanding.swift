#if Sites
import OtaflashFleet

/// The result of comparing the event log of a run with the entries of its devices. A coordinator
/// records an attempt before it publishes the job. If a log lacks the newest attempt, it was
/// restored from a backup.
package enum LogStanding: Hashable, Sendable {
  case current
  /// The log contains attempts without their outcomes, so the facts must be recorded again.
  case behind
  /// The log lacks an attempt of this device.
  case lost(FleetDevice.ID)

  /// Compares a run with its jobs.
  ///
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
