#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// A command that the page offers.
package enum RunAction: String, Hashable, Sendable, CaseIterable {
  case approve
  case resume
  case pause
  case retry
  case cancel

  /// Returns the command for the coordinator.
  ///
  /// - Parameter devices: the devices of `retry`; empty = all devices that did not succeed.
  package func command(devices: [FleetDevice.ID] = []) -> OperatorCommand {
    switch self {
    case .approve, .resume: .resume
    case .pause: .pause
    case .retry: .retry(devices)
    case .cancel: .cancel
    }
  }
}

/// The effect of a command on a run in its current state, which the operator must confirm.
package struct CommandEffect: Hashable, Sendable {
  package let action: RunAction
  /// The effect as sentences.
  package let sentences: [String]
  /// A text that changes if the run reaches another state, in which the effect may differ.
  package let fingerprint: String

  /// Determines the effect of a command.
  ///
  /// - Throws: the reason why the command is not possible now.
  init(
    of action: RunAction, devices: [FleetDevice.ID] = [], in index: borrowing RunIndex
  ) throws(CommandRefusal) {
    let command = action.command(devices: devices)
    _ = try FleetRules.events(for: command, in: index.run)
    let kind = FleetRules.kind(of: command, in: index.run)
    switch (action, kind) {
    case (.approve, .resume): throw .waitsForResume
    case (.resume, .approve): throw .waitsForApproval
    default: break
    }
    self.action = action
    fingerprint =
      "\(kind.rawValue)/\(index.stateWords)/\(index.run.currentWave.map { $0 + 1 } ?? 0)"
    switch action {
    case .approve: sentences = Self.approval(in: index)
    case .resume: sentences = Self.resumption(in: index)
    case .pause: sentences = Self.pause(in: index)
    case .cancel: sentences = Self.cancellation(in: index)
    case .retry: sentences = Self.retry(command, in: index)
    }
  }

  private static func devices(_ count: Int) -> String { Figures.counted(count, "device") }

  private static func running(_ count: Int) -> String {
    count == 0
      ? "No attempt is in progress."
      : "\(Figures.counted(count, "attempt")) in progress \(count == 1 ? "is" : "are") completed."
  }

  private static func approval(in index: borrowing RunIndex) -> [String] {
    guard let current = index.run.currentWave else { return [] }
    let wave = index.run.waves[current]
    if case .paused = index.run.control {
      return ["The run is resumed."] + steps(after: current, wave, in: index)
    }
    return steps(after: current, wave, in: index)
  }

  /// Returns the effect of an approval on the waves.
  private static func steps(
    after current: Int, _ wave: WaveProgress, in index: borrowing RunIndex
  ) -> [String] {
    if case .stop = wave.verdict, !wave.isSettled {
      return [
        "Wave \(wave.name) continues with its remaining "
          + "\(devices(wave.tally.size - wave.tally.settled)).",
        "The \(Figures.counted(wave.tally.failed, "failure")) so far "
          + "\(wave.tally.failed == 1 ? "is" : "are") accepted, and no longer counted towards the "
          + "failure limit.",
      ]
    }
    guard current + 1 < index.run.waves.count else {
      return ["Wave \(wave.name) is approved. It is the last wave, so the run ends."]
    }
    let next = index.run.waves[current + 1]
    return [
      "Wave \(wave.name) is approved.",
      "Wave \(next.name) starts: \(devices(next.tally.size)) may be updated immediately.",
    ]
  }

  private static func resumption(in index: borrowing RunIndex) -> [String] {
    let left = index.counts[.waiting]
    return [
      "Attempts start again as the campaign permits; \(devices(left)) "
        + "\(left == 1 ? "waits" : "wait").",
      "A hook that failed before a wave runs again.",
    ]
  }

  private static func pause(in index: borrowing RunIndex) -> [String] {
    [
      "No further attempt starts until an operator resumes the run.",
      running(index.counts[.running]),
    ]
  }

  private static func cancellation(in index: borrowing RunIndex) -> [String] {
    let running = index.counts[.running]
    let waiting = index.counts[.waiting]
    return [
      running == 0
        ? "No attempt is in progress."
        : "\(Figures.counted(running, "attempt")) in progress "
          + "\(running == 1 ? "ends" : "end") at a safe point; devices in progress keep their "
          + "old image.",
      "\(devices(waiting)) \(waiting == 1 ? "is" : "are") not updated.",
      "\(devices(index.counts[.succeeded])) that already run the new image keep this image.",
      "A cancelled run cannot be resumed; start the campaign again to continue.",
    ]
  }

  private static func retry(_ command: OperatorCommand, in index: borrowing RunIndex) -> [String] {
    let retried = FleetRules.devicesToRetry(command, in: index.run)
    let waves = Set(retried.map(\.wave)).sorted().map { index.run.waves[$0].name }
    let names = waves.joined(separator: ", ")
    return [
      "\(devices(retried.count)) \(retried.count == 1 ? "is" : "are") attempted again, with all "
        + "attempts that the campaign permits.",
      "\(waves.count == 1 ? "Wave \(names) opens" : "Waves \(names) open") again, and receive a "
        + "new verdict.",
    ]
  }
}

extension RunIndex {
  /// Returns the effect of a command.
  package func effect(
    of action: RunAction, devices: [FleetDevice.ID] = []
  ) throws(CommandRefusal) -> CommandEffect {
    try CommandEffect(of: action, devices: devices, in: self)
  }

  /// The commands that are possible now.
  package var actions: [RunAction] {
    RunAction.allCases.filter { action in
      if action == .retry { return canRetry }
      do throws(CommandRefusal) {
        _ = try effect(of: action)
        return true
      } catch {
        return false
      }
    }
  }

  /// Whether `retry` is possible. Unlike `effect`, this property does not list the devices.
  private var canRetry: Bool {
    if case .cancelling = run.control { return false }
    return counts[.failed] + counts[.unseen] + counts[.neutral] > 0
  }

  /// Returns the devices that workers update now, at most `limit`.
  package func runningDevices(limit: Int) -> [DeviceReport] {
    places(with: .running, limit: limit).map { device(at: $0) }
  }
}
#endif
