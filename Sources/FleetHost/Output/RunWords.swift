#if Fleet
import OtaflashConsole
import OtaflashFleet

extension FleetRun {
  /// The waves with their counts and verdicts.
  package var waveMembers: [JSONValue] {
    waves.enumerated().map { index, wave in
      JSONValue.object([
        "wave": .integer(index + 1), "name": .string(wave.name),
        "devices": .integer(wave.tally.size), "succeeded": .integer(wave.tally.succeeded),
        "failed": .integer(wave.tally.failed), "absent": .integer(wave.tally.unseen),
        "left_out": .integer(wave.tally.neutral), "verdict": .text(wave.verdict?.name),
      ])
    }
  }

  package var settledCount: Int { waves.reduce(0) { $0 + $1.tally.settled } }

  /// Returns the name of a device as text: its id, if it has no name.
  func label(of device: FleetDevice.ID) -> String { self[device]?.device.name ?? device }
}

extension FleetEvent {
  /// The state of a run after this event, which `FleetStore.lastTurn` returned, for a list of runs.
  package var turnWords: String {
    switch self {
    case .runEnded(.complete(failed: 0)): "complete"
    case .runEnded(.complete(let failed)): "complete, \(failed) did not succeed"
    case .runEnded(.stopped(let wave)): "stopped in wave \(wave + 1)"
    case .runEnded(.cancelled): "cancelled"
    case .runPaused: "paused"
    case .approvalAwaited: "waits for approval"
    case .runCancelled: "being cancelled"
    default: "open"
    }
  }
}

extension WaveTally {
  /// The counts as text, such as `38 of 40 done, 2 failed`.
  var words: String {
    let others = [(failed, "failed"), (unseen, "not found"), (neutral, "skipped")]
      .filter { $0.0 > 0 }.map { "\(Text.grouped($0.0)) \($0.1)" }
    return (["\(Text.grouped(succeeded)) of \(Text.grouped(size)) done"] + others)
      .joined(separator: ", ")
  }
}

extension PauseReason {
  /// The reason of the pause, as a clause.
  var sentence: String {
    switch self {
    case .asked: "an operator requested it"
    case .infrastructure(let failures, let words):
      "\(failures) consecutive attempts failed on the host; the last: \(words)"
    case .noAdapter: "there is no adapter; the run continues when an adapter is available"
    case .inconclusive(let wave): "too few devices of wave \(wave + 1) have an outcome"
    case .failureLimit(let wave):
      "wave \(wave + 1) has too many failures; resuming accepts the failures so far"
    case .hook(_, let point, let words): "the hook \(point.rawValue) \(words)"
    }
  }
}
#endif
