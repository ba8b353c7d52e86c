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
  package let began: WallClockTime
  /// When the last event was recorded.
  package let last: WallClockTime
  /// How many were recorded.
  package let events: Int
  package let waves: [WaveReport]
  /// In the order in which waves and their devices were planned.
  package let devices: [DeviceReport]
  /// By name.
  package let adapters: [AdapterReport]
  /// Who worked on devices, in the order in which they were first heard of.
  package let workers: [String]
  package let pauses: [PauseRecord]
  /// What operators did, in order.
  package let operators: [OperatorRecord]
  package let failures: [FailureGroup]
  package let throughput: Throughput
  /// `nil` where images alone were sent.
  package let savings: PatchSavings?

  /// - Parameter history: from the first event on.
  /// - Returns: `nil` where these are no run's events: the first is not its beginning, or one is of
  ///   a wave that nobody planned. A hand in the store may have been there.
  package init?(_ history: [RecordedEvent]) {
    guard FleetRun.fault(of: history) == nil else { return nil }
    let run = FleetRun(history)
    guard let beginning = run.beginning, let began = run.beganAt else { return nil }
    self.beginning = beginning
    self.began = began
    last = run.lastAt
    events = run.eventCount
    state = State(run)
    let devices = run.devices.map { DeviceReport($0, hasEnded: run.hasEnded) }
    self.devices = devices
    waves = run.waves.enumerated().map { number, wave in
      let rules = beginning.waveRules ?? []
      return WaveReport(
        wave, rule: number < rules.count ? rules[number] : nil,
        counts: OutcomeCounts(devices[wave.devices]), isOver: run.hasEnded)
    }
    adapters = Self.adapters(of: devices, until: run.lastAt)
    workers = run.workers
    pauses = run.pauses
    operators = run.operators
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
    of devices: [DeviceReport], until last: WallClockTime
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

extension RunReport.State {
  fileprivate init(_ run: FleetRun) {
    switch run.control {
    case .running:
      let waiting = run.waves.firstIndex { $0.phase == .awaitingApproval }
      self = waiting.map { .awaitingApproval(wave: $0) } ?? .running
    case .paused(let reason): self = .paused(reason)
    case .cancelling: self = .cancelling
    case .ended(let ending): self = .ended(ending)
    }
  }
}

extension FleetRun {
  var hasEnded: Bool { if case .ended = control { true } else { false } }
}
