extension FleetRules {
  /// Returns the events after the end of a wave's hook; an empty list if the run does not wait for
  /// the hook.
  package func events(
    afterHook point: HookPoint, of wave: Int, _ outcome: HookOutcome, in run: FleetRun
  ) -> [FleetEvent] {
    guard run.waves.indices.contains(wave), run.waves[wave].hooks[point] == .running else {
      return []
    }
    return [.waveHookEnded(wave: wave, point: point, outcome: outcome)]
  }

  func hookAfter(_ wave: Int) -> [FleetEvent] {
    campaign.hooks[.afterWave] == nil ? [] : [.waveHookBegan(wave: wave, point: .afterWave)]
  }

  /// Returns the pause after a failed hook. A failed hook before a wave always pauses the run. A
  /// failed hook after a wave pauses the run if the campaign requires it and the next wave would
  /// start.
  func hookPause(_ run: FleetRun) -> FleetEvent? {
    guard !campaign.hooks.commands.isEmpty else { return nil }
    for (wave, progress) in run.waves.enumerated() {
      for (point, hook) in progress.hooks {
        guard case .ended(let outcome) = hook, !outcome.isSuccess,
          pauses(after: point, of: progress, isLast: wave == run.waves.count - 1)
        else { continue }
        return .runPaused(because: .hook(wave: wave, point: point, words: outcome.words))
      }
    }
    return nil
  }

  private func pauses(after point: HookPoint, of wave: WaveProgress, isLast: Bool) -> Bool {
    switch point {
    case .beforeWave: wave.phase == .planned
    case .afterWave:
      campaign.hooks.afterFailure == .fail && wave.verdict == .continue && !isLast
    case .beforeDevice, .afterDevice, .runEnded, .runPaused, .runStopped: false
    }
  }
}
