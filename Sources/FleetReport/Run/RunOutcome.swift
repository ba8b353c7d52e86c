import OtaflashFleet

/// The part of a report that does not depend on killed processes. Two runs with the same start,
/// over devices with equal behavior, have equal values, regardless of the number of times that the
/// processes of one run were killed. The values are the start of the run, the result and cause of
/// each device, the counts and verdict of each wave, and the state of the run.
///
/// Other values may differ: times, rates and adapters; the number of events; attempts (an
/// interrupted attempt is followed by another), and therefore the failures that were resolved by
/// retries; and the messages of failures, which may contain an offset. If a run is stopped or
/// cancelled, the devices in progress at that moment may also differ.
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
