#if Sites
import OtaflashFleet
import Synchronization

/// A run that several requests read, and that the coordinator may change at the same time.
package final class RunBook: Sendable {
  package let id: String
  private let index: Mutex<RunIndex>

  package init(_ run: FleetRun) {
    id = run.beginning?.id ?? ""
    index = Mutex(RunIndex(run))
  }

  /// Reads the run. The closure must not keep a copy of the complete run, because the next event
  /// would then copy all devices.
  package func read<Value: Sendable, Fault: Error>(
    _ body: (inout RunIndex) throws(Fault) -> Value
  ) throws(Fault) -> Value {
    let result: Result<Value, Fault> = index.withLock { index in
      do throws(Fault) { return .success(try body(&index)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Applies events, after which the state of the run is `run`.
  ///
  /// - Returns: the places of the changed devices.
  func apply(_ events: [FleetEvent], after run: FleetRun) -> [Int] {
    index.withLock { index in
      guard index.run.eventCount + events.count == run.eventCount else {
        // Another process has added events, so the complete run is replaced.
        index = RunIndex(run)
        return Array(0..<index.deviceCount)
      }
      return index.apply(events, at: run.lastAt)
    }
  }
}

extension FleetEvent {
  /// The device of the event; `nil` if the event concerns a wave or the run.
  var device: FleetDevice.ID? {
    switch self {
    case .devicePublished(let device, _, _), .deviceClaimed(let device, _, _),
      .devicePlaced(let device, _, _), .transferBegan(let device, _, _),
      .deviceActivating(let device, _), .claimExpired(let device, _),
      .deviceNotInRange(let device, _, _), .outcomeReportedLate(let device, _, _, _),
      .deviceHookEnded(let device, _, _, _), .attemptEnded(let device, _, _),
      .deviceDeferred(let device, _), .deviceSettled(let device, _), .deviceRetried(let device):
      device
    case .runBegan, .wavePlanned, .waveHookBegan, .waveHookEnded, .waveBegan, .waveSoaking,
      .waveJudged, .approvalAwaited, .waveApproved, .operatorActed, .runPaused, .runResumed,
      .runCancelled, .runEnded:
      nil
    }
  }
}
#endif
