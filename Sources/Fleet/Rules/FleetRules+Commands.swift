/// A command of an operator to a run.
public enum OperatorCommand: Hashable, Sendable, Codable {
  /// Starts no further attempts; attempts in progress are completed.
  case pause
  /// Continues after a pause, or approves a wave that waits for approval.
  case resume
  /// Ends the run; attempts in progress end at a safe point.
  case cancel
  /// Retries settled devices; an empty list selects all devices that did not succeed.
  case retry([FleetDevice.ID])
}

/// The reason why a command is refused.
package enum CommandRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  case hasEnded
  case isBeingCancelled
  case isPaused
  /// The run is paused, and does not wait for approval.
  case waitsForResume
  /// The run waits for approval, and is not paused.
  case waitsForApproval
  case nothingToResume
  case nothingToRetry
  case unknownDevice(String)
  case notSettled(FleetDevice.ID)

  package var description: String {
    switch self {
    case .hasEnded: "the run has ended"
    case .isBeingCancelled: "the run is being cancelled"
    case .isPaused: "the run is already paused"
    case .waitsForResume: "the run does not wait for approval; it is paused"
    case .waitsForApproval: "the run is not paused; it waits for approval"
    case .nothingToResume: "the run is not paused and does not wait for approval"
    case .nothingToRetry: "no device of the run has failed, is absent, or was skipped"
    case .unknownDevice(let device): "the run has no device '\(device)'"
    case .notSettled(let device): "\(device) has no final outcome yet"
    }
  }
}

extension FleetRules {
  /// Returns the events that execute a command.
  package static func events(
    for command: OperatorCommand, in run: FleetRun
  ) throws(CommandRefusal) -> [FleetEvent] {
    if case .cancelling = run.control { throw .isBeingCancelled }
    switch command {
    case .pause:
      if case .ended = run.control { throw .hasEnded }
      guard case .running = run.control else { throw .isPaused }
      return [.runPaused(because: .asked)]
    case .cancel:
      if case .ended = run.control { throw .hasEnded }
      return [.runCancelled]
    case .resume: return try resumption(of: run)
    case .retry(let devices): return try retries(of: devices, in: run)
    }
  }

  /// Returns the kind of a command for its record. A command to resume a run that waits for
  /// approval is recorded as an approval.
  package static func kind(of command: OperatorCommand, in run: FleetRun) -> OperatorAction.Kind {
    switch command {
    case .pause: return .pause
    case .cancel: return .cancel
    case .retry: return .retry
    case .resume:
      do throws(CommandRefusal) {
        let approves = try resumption(of: run).contains {
          if case .waveApproved = $0 { true } else { false }
        }
        return approves ? .approve : .resume
      } catch {
        return .resume
      }
    }
  }

  private static func resumption(of run: FleetRun) throws(CommandRefusal) -> [FleetEvent] {
    if case .ended = run.control { throw .hasEnded }
    var events: [FleetEvent] = []
    if case .paused = run.control { events.append(.runResumed) }
    if let wave = run.currentWave {
      switch (run.waves[wave].phase, run.waves[wave].verdict) {
      // Resuming after an inconclusive verdict approves the wave.
      case (.awaitingApproval, _), (.judged, .inconclusive):
        events.append(.waveApproved(wave: wave))
      case (.judged, .stop) where run.control == .paused(.failureLimit(wave: wave)):
        events.append(.waveApproved(wave: wave))
      default: break
      }
    }
    guard !events.isEmpty else { throw .nothingToResume }
    return events
  }

  /// Returns the devices that a retry refers to; an empty list for other commands.
  package static func devicesToRetry(
    _ command: OperatorCommand, in run: FleetRun
  ) -> [DeviceProgress] {
    guard case .retry(let names) = command else { return [] }
    guard names.isEmpty else { return names.compactMap { run.device(called: $0) } }
    return run.devices.filter { device in
      device.ending.map { $0.count != .succeeded } ?? false
    }
  }

  private static func retries(
    of names: [FleetDevice.ID], in run: FleetRun
  ) throws(CommandRefusal) -> [FleetEvent] {
    guard names.isEmpty else {
      var events: [FleetEvent] = []
      for name in names {
        guard let device = run.device(called: name) else {
          throw .unknownDevice(name)
        }
        guard device.ending != nil else { throw .notSettled(device.device.id) }
        events.append(.deviceRetried(device: device.device.id))
      }
      return events
    }
    let failed = devicesToRetry(.retry([]), in: run)
    guard !failed.isEmpty else { throw .nothingToRetry }
    return failed.map { .deviceRetried(device: $0.device.id) }
  }
}
