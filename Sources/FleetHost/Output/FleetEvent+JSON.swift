#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashUpdate

extension FleetEvent {
  /// Returns the type and the members of the `--json` event.
  func report(in run: FleetRun) -> (type: String, members: [JSONValue.Member]) {
    switch self {
    case .runBegan, .runPaused, .runResumed, .runCancelled, .runEnded:
      ("fleet_run", runMembers(of: run))
    case .operatorActed(let action):
      (
        "fleet_operator", JSONValue.fields(["run": .text(run.beginning?.id)]) + action.members
      )
    case .wavePlanned(let wave, let name, let devices):
      (
        "fleet_wave",
        Self.wave(wave, "planned", ["name": .string(name), "devices": .integer(devices.count)])
      )
    case .waveHookBegan(let wave, let point):
      ("fleet_wave", Self.wave(wave, "hook-began", ["hook": .string(point.rawValue)]))
    case .waveHookEnded(let wave, let point, let outcome):
      (
        "fleet_wave",
        Self.wave(
          wave, "hook-ended", ["hook": .string(point.rawValue), "words": .string(outcome.words)])
      )
    case .waveBegan(let wave): ("fleet_wave", Self.wave(wave, "began"))
    case .waveSoaking(let wave, let until):
      ("fleet_wave", Self.wave(wave, "soaking", ["until": .string(until.text)]))
    case .waveJudged(let wave, let verdict):
      ("fleet_wave", Self.wave(wave, "judged", ["verdict": .string(verdict.name)]))
    case .approvalAwaited(let wave): ("fleet_wave", Self.wave(wave, "awaiting-approval"))
    case .waveApproved(let wave): ("fleet_wave", Self.wave(wave, "approved"))
    case .devicePublished, .deviceClaimed, .devicePlaced, .deviceActivating, .claimExpired,
      .transferBegan, .deviceNotInRange, .outcomeReportedLate,
      .deviceHookEnded, .attemptEnded, .deviceDeferred, .deviceSettled, .deviceRetried:
      ("fleet_device", deviceMembers)
    }
  }

  private func runMembers(of run: FleetRun) -> [JSONValue.Member] {
    var (event, reason): (String, String?) = ("began", nil)
    switch self {
    case .runPaused(let cause): (event, reason) = ("paused", cause.name)
    case .runResumed: event = "resumed"
    case .runCancelled: event = "cancelled"
    case .runEnded(let ending): (event, reason) = ("ended", ending.name)
    default: break
    }
    return JSONValue.fields([
      "event": .string(event), "run": .text(run.beginning?.id),
      "campaign": .text(run.beginning?.campaign), "devices": .integer(run.beginning?.devices),
      "waves": .integer(run.beginning?.waves), "reason": .text(reason),
    ])
  }

  /// Returns an event of a wave; waves are counted from 1 in output.
  private static func wave(
    _ wave: Int, _ event: String, _ members: KeyValuePairs<String, JSONValue?> = [:]
  ) -> [JSONValue.Member] {
    JSONValue.fields(["event": .string(event), "wave": .integer(wave + 1)])
      + JSONValue.fields(members)
  }

  private var deviceMembers: [JSONValue.Member] {
    func members(
      _ event: String, _ device: FleetDevice.ID, _ attempt: Int? = nil,
      _ rest: KeyValuePairs<String, JSONValue?> = [:]
    ) -> [JSONValue.Member] {
      JSONValue.fields([
        "event": .string(event), "device": .string(device), "attempt": .integer(attempt),
      ]) + JSONValue.fields(rest)
    }
    return switch self {
    case .devicePublished(let device, let attempt, let verifyFirst):
      members("published", device, attempt, ["look": .bool(verifyFirst)])
    case .deviceClaimed(let device, let attempt, _): members("claimed", device, attempt)
    case .devicePlaced(let device, let attempt, let adapter):
      members("placed", device, attempt, ["adapter": .string(adapter)])
    case .deviceActivating(let device, let attempt): members("activating", device, attempt)
    case .claimExpired(let device, let attempt): members("expired", device, attempt)
    case .transferBegan(let device, let attempt, let offset):
      members("transferring", device, attempt, ["offset": .integer(offset)])
    case .deviceNotInRange(let device, let attempt, _): members("not-in-range", device, attempt)
    case .outcomeReportedLate(let device, let attempt, _, let ending):
      members("late-outcome", device, attempt, ["outcome": .string(ending.name)])
    case .deviceHookEnded(let device, let attempt, let point, let outcome):
      members(
        "hook-ended", device, attempt,
        ["hook": .string(point.rawValue), "words": .string(outcome.words)])
    case .attemptEnded(let device, let attempt, let ending):
      members(
        "ended", device, attempt,
        ["outcome": .string(ending.name), "code": .text(ending.code), "words": .text(ending.words)])
    case .deviceDeferred(let device, let until):
      members("deferred", device, nil, ["until": .string(until.text)])
    case .deviceSettled(let device, let ending):
      members(
        "settled", device, nil, ["outcome": .string(ending.name), "words": .text(ending.words)])
    case .deviceRetried(let device): members("retried", device)
    default: []
    }
  }
}

extension OperatorAction {
  package var members: [JSONValue.Member] {
    JSONValue.fields([
      "action": .string(kind.rawValue), "by": .string(by), "reason": .text(reason),
    ])
  }
}

extension WaveVerdict {
  package var name: String {
    switch self {
    case .continue: "continue"
    case .stop: "stop"
    case .inconclusive: "inconclusive"
    }
  }
}

extension PauseReason {
  var name: String {
    switch self {
    case .asked: "asked"
    case .infrastructure: "infrastructure"
    case .noAdapter: "no-adapter"
    case .inconclusive: "inconclusive"
    case .failureLimit: "failure-limit"
    case .hook: "hook"
    }
  }
}

extension RunEnding {
  package var name: String {
    switch self {
    case .complete: "complete"
    case .stopped: "stopped"
    case .cancelled: "cancelled"
    }
  }
}

extension AttemptEnding {
  var name: String {
    switch self {
    case .updated: "flashed"
    case .current: "already-current"
    case .failed: "failed"
    case .skipped: "skipped"
    case .returned: "returned"
    }
  }

  var code: String? {
    switch self {
    case .updated, .current, .skipped: nil
    case .failed(let failure): failure.code
    case .returned(let reason): reason.rawValue
    }
  }

  var words: String? {
    switch self {
    case .updated, .current: nil
    case .failed(let failure): failure.words
    case .skipped(let words): words
    case .returned(let reason): reason.words
    }
  }
}

extension DeviceEnding {
  /// The value as in the event `result`.
  package var name: String {
    switch self {
    case .updated: "flashed"
    case .current: "already-current"
    case .failed: "failed"
    case .quarantined: "quarantined"
    case .absent: "absent"
    case .skipped: "skipped"
    }
  }

  /// The reason why the device was not updated, as a clause; `nil` = the device runs the image.
  var words: String? {
    switch self {
    case .updated, .current: nil
    case .failed(let failure), .quarantined(let failure): failure.words
    case .absent: "it was not found"
    case .skipped(let words): words
    }
  }
}
#endif
