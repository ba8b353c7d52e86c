#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

/// The permanent lines of events.
struct RunLines: Sendable {
  let style: Style
  /// Whether each successful device has a line; `true` if the display has no block.
  let tellsSuccesses: Bool
  /// The run after the events.
  let run: FleetRun

  func line(for event: FleetEvent) -> Line? {
    switch event {
    case .deviceSettled(let device, let ending): return settled(device, ending)
    case .waveBegan(let wave):
      return "\(style.bold("wave \(wave + 1) of \(run.waves.count)"))  \(waveWords(wave))"
    case .waveSoaking(let wave, let until):
      return "wave \(wave + 1) is done; its verdict follows at \(until.text)"
    case .waveJudged(let wave, let verdict): return judged(wave, verdict)
    case .approvalAwaited(let wave):
      return "wave \(wave + 1) waits for approval: otaflash fleet resume \(run.beginning?.id ?? "")"
    case .operatorActed(let action): return Line(action.words)
    case .runPaused(let reason): return "paused: \(reason.sentence)"
    case .runResumed: return "resumed"
    case .runCancelled: return "cancelled: updates in progress end at a safe point"
    case .waveHookEnded(_, let point, let outcome) where !outcome.isSuccess:
      return "note: hook \(point.rawValue) \(outcome.words)"
    case .deviceHookEnded(let device, _, let point, let outcome) where !outcome.isSuccess:
      return "note: hook \(point.rawValue) of \(run.label(of: device)) \(outcome.words)"
    case .runBegan, .wavePlanned, .waveHookBegan, .waveHookEnded, .devicePublished, .deviceClaimed,
      .devicePlaced, .transferBegan, .deviceNotInRange, .outcomeReportedLate, .deviceActivating,
      .deviceHookEnded, .attemptEnded, .claimExpired,
      .deviceDeferred, .deviceRetried, .waveApproved, .runEnded:
      return nil
    }
  }

  private func waveWords(_ wave: Int) -> String {
    "\(run.waves[wave].name), " + Text.counted(run.waves[wave].devices.count, "device")
  }

  private func judged(_ wave: Int, _ verdict: WaveVerdict) -> Line? {
    let tally = run.waves[wave].tally
    return switch verdict {
    case .continue: tellsSuccesses ? "wave \(wave + 1) passed: \(tally.words)" : nil
    case .stop: "\(style.red("stopped")): \(tally.words) in wave \(wave + 1)"
    case .inconclusive: "wave \(wave + 1) cannot be judged: \(tally.words)"
    }
  }

  private func settled(_ device: FleetDevice.ID, _ ending: DeviceEnding) -> Line? {
    guard ending.count != .succeeded else {
      guard tellsSuccesses else { return nil }
      let runs = run[device]?.runs?.description ?? "the image"
      let change = ending == .current ? "  already runs it" : "  runs \(runs)"
      return "  \(style.green(style.tick)) \(run.label(of: device))\(change)"
    }
    return "  \(style.red(ending.name)) \(run.label(of: device)): \(ending.words ?? "")"
  }
}
#endif
