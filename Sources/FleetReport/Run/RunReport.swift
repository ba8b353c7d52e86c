import OtaflashFirmware
import OtaflashFleet

/// What a run did, for people: a fold over its events and nothing else, so whoever has the events
/// has the report. Of a run that goes on it says what is known so far.
package struct RunReport: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    case running
    case paused(PauseReason)
    /// After that wave.
    case awaitingApproval(wave: Int)
    case cancelling
    case ended(RunEnding)
  }

  package let beginning: RunBeginning
  package let state: State
  package let began: FleetTime
  /// When the last event was recorded.
  package let last: FleetTime
  /// How many were recorded.
  package let events: Int
  package let waves: [WaveReport]
  /// In the order in which waves and their devices were planned.
  package let devices: [DeviceReport]
  /// By name.
  package let adapters: [AdapterReport]
  /// Who worked on devices, in the order in which they were first heard of.
  package let workers: [String]
  package let pauses: [PauseReport]
  /// What operators did, in order.
  package let operators: [OperatorReport]
  package let failures: [FailureGroup]
  package let throughput: Throughput
  /// `nil` where images alone were sent.
  package let savings: PatchSavings?

  /// - Parameter history: from the first event on.
  /// - Returns: `nil` where these are no run's events: the first is not its beginning, or one is of
  ///   a wave that nobody planned. A hand in the store may have been there.
  package init?(_ history: [RecordedEvent]) {
    guard FleetRun.fault(of: history) == nil else { return nil }
    var fold = ReportFold()
    for recorded in history { fold.apply(recorded) }
    guard let beginning = fold.run.beginning, let began = fold.run.beganAt else { return nil }
    self.beginning = beginning
    self.began = began
    last = fold.run.lastAt
    events = fold.run.eventCount
    state = fold.state
    let devices = fold.devices
    self.devices = devices
    waves = fold.waves(of: devices)
    adapters = Self.adapters(of: devices, until: fold.run.lastAt)
    workers = fold.workers
    pauses = fold.pauses
    operators = fold.operators
    failures = FailureGroup.groups(of: devices)
    throughput = Throughput(devices.lazy.flatMap(\.attempts))
    savings = PatchSavings(devices.lazy.compactMap(\.figures))
  }

  package var counts: OutcomeCounts { OutcomeCounts(devices) }

  /// From the first event to the last.
  package var milliseconds: Int64 { last.milliseconds - began.milliseconds }

  /// What is recorded of the image of a device.
  package func image(of device: DeviceReport) -> RunImage? {
    beginning.images?.first { $0.digest == device.device.image }
  }

  private static func adapters(
    of devices: [DeviceReport], until last: FleetTime
  ) -> [AdapterReport] {
    var stretches: [String: [AdapterReport.Stretch]] = [:]
    for (index, device) in devices.enumerated() {
      for attempt in device.attempts {
        guard let adapter = attempt.adapter else { continue }
        let from = attempt.placed ?? attempt.began
        stretches[adapter, default: []].append(
          AdapterReport.Stretch(
            from: from, until: max(attempt.ended ?? last, from), device: index, attempt: attempt))
      }
    }
    return stretches.map { AdapterReport(name: $0, stretches: $1) }.sorted {
      // hci2 comes before hci10.
      ($0.name.utf8.count, $0.name) < ($1.name.utf8.count, $1.name)
    }
  }
}
