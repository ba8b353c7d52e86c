import OtaflashFleet

/// A report without what depends on when its processes were ended. Of two runs of one campaign over
/// devices that behave alike it is the same, however often the processes of one were killed: what
/// became of each device and why, how each wave was counted and judged, and how the run ended.
///
/// Not the same are times, rates and adapters; the number of events; attempts (one that a dead
/// process cut short is followed by another), and so what failed on the way and was overcome; and
/// the words of failures, which may name a byte. Where a run is stopped or cancelled, it is a
/// matter of moments which devices were in work by then.
package struct RunOutcome: Hashable, Sendable {
  package struct Device: Hashable, Sendable {
    package let id: FleetDevice.ID
    package let wave: Int
    package let outcome: Outcome
    package let wasUpdated: Bool
    package let isQuarantined: Bool
    package let cause: FailureCause?
  }

  package struct Wave: Hashable, Sendable {
    package let name: String
    package let counts: OutcomeCounts
    package let verdict: WaveVerdict?
  }

  package let beginning: RunBeginning
  package let state: RunReport.State
  package let waves: [Wave]
  package let devices: [Device]
}

extension RunReport {
  package var withoutTimes: RunOutcome {
    RunOutcome(
      beginning: beginning, state: state,
      waves: waves.map { RunOutcome.Wave(name: $0.name, counts: $0.counts, verdict: $0.verdict) },
      devices: devices.map { device in
        let isQuarantined =
          if case .settled(.quarantined) = device.standing { true } else { false }
        return RunOutcome.Device(
          id: device.device.id, wave: device.wave, outcome: device.outcome,
          wasUpdated: device.standing == .settled(.updated), isQuarantined: isQuarantined,
          cause: device.cause)
      })
  }
}
