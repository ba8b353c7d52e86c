import OtaflashFirmware
import OtaflashFleet

/// The report of a run: a fold over its events, without any other input. The report of an
/// unfinished run contains the results so far.
package struct RunReport: Hashable, Sendable {
  package enum State: Hashable, Sendable {
    case running
    case paused(PauseReason)
    /// The run waits for approval after the wave.
    case awaitingApproval(wave: Int)
    case cancelling
    case ended(RunEnding)
  }

  package let beginning: RunBeginning
  package let state: State
  package let began: WallClockTime
  /// The time of the last event.
  package let last: WallClockTime
  /// The number of recorded events.
  package let events: Int
  package let waves: [WaveReport]
  /// The devices, in the planned order.
  package let devices: [DeviceReport]
  /// The adapters, sorted by name.
  package let adapters: [AdapterReport]
  /// The workers, in the order of their first claims.
  package let workers: [String]
  package let pauses: [PauseRecord]
  /// The commands of operators, in order.
  package let operators: [OperatorRecord]
  package let failures: [FailureGroup]
  package let throughput: Throughput
  /// The savings; `nil` if all devices received uncompressed images.
  package let savings: PatchSavings?

  /// - Parameter history: all events, from the first.
  /// - Returns: `nil` if the events are not valid for one run (`FleetRun.fault(of:)`), such as an
  ///   event of a wave that was not planned. The cause may be an edited store.
  package init?(_ history: [RecordedEvent]) {
    guard FleetRun.fault(of: history) == nil else { return nil }
    self.init(FleetRun(history))
  }

  /// - Parameter run: the state after all events.
  /// - Returns: `nil` if the run has not started.
  package init?(_ run: FleetRun) {
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

  /// The time from the first event to the last.
  package var milliseconds: Int64 { last.milliseconds - began.milliseconds }

  /// Returns the recorded facts of the image of a device.
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
      // This order places hci2 before hci10.
      ($0.name.utf8.count, $0.name) < ($1.name.utf8.count, $1.name)
    }
  }
}

extension RunReport.State {
  package init(_ run: FleetRun) {
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
  package var hasEnded: Bool { if case .ended = control { true } else { false } }
}
