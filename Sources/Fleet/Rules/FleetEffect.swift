/// The effect of a recorded event. An effect may be repeated after a crash, because the exchange
/// ignores repetitions.
package enum FleetEffect: Hashable, Sendable {
  case publish(UpdateJob)
  case cancel([UpdateJob.ID])
  case runHook(wave: Int, HookPoint)
}

extension FleetRules {
  /// - Parameter run: the run after the event was applied.
  package func effects(of event: FleetEvent, in run: FleetRun) -> [FleetEffect] {
    switch event {
    case .devicePublished(let id, let attempt, let verifyFirst):
      guard let job = run.job(of: id, attempt: attempt, verifyFirst: verifyFirst) else { return [] }
      return [.publish(job)]
    case .waveHookBegan(let wave, let point): return [.runHook(wave: wave, point)]
    case .waveJudged(_, .stop), .runPaused: return run.recall { $0.phase == .published }
    case .runCancelled: return run.recall { $0.phase == .published || $0.phase.isClaimed }
    default: return []
    }
  }

  /// Returns the first events of a process that continues a run. The previous process and its
  /// workers have ended, and its newest events may be lost.
  package func eventsOfRestart(in run: FleetRun, now: WallClockTime) -> [FleetEvent] {
    let now = run.time(now)
    let abandoned = run.devices.filter(\.phase.isClaimed).flatMap { device -> [FleetEvent] in
      let id = device.device.id
      return [
        .attemptEnded(device: id, attempt: device.attempts, ending: .returned(.holderGone)),
        .deviceDeferred(device: id, until: now),
      ]
    }
    return abandoned + run.strandedDevices.map { .deviceDeferred(device: $0, until: now) }
  }

  /// Returns the effects that a process repeats when it continues a run, because an event may have
  /// been recorded without its effect.
  package func effectsToRepeat(in run: FleetRun) -> [FleetEffect] {
    let hooks = run.runningHook.map { [FleetEffect.runHook(wave: $0.wave, $0.point)] } ?? []
    let jobs =
      hooks
      + run.devices.compactMap { device -> FleetEffect? in
        guard device.phase == .published else { return nil }
        return run.job(
          of: device.device.id, attempt: device.attempts, verifyFirst: device.mayRunNewImage
        ).map { .publish($0) }
      }
    switch run.control {
    case .cancelling, .paused: return jobs + run.recall { $0.phase == .published }
    case .running, .ended: return jobs
    }
  }

  /// Returns the effects of closed windows: waiting jobs are recalled. Running jobs are also
  /// recalled if the campaign interrupts transfers.
  ///
  /// - Parameter wall: the wall-clock time.
  package func effectsOfClosing(in run: FleetRun, wall: WallClockTime) -> [FleetEffect] {
    guard case .running = run.control else { return [] }
    // Most campaigns have at most one window, but runs may have thousands of devices.
    var closed: [String?: TransferWindow] = [:]
    for site in Set(campaign.siteWindows.keys.map { $0 as String? } + [nil]) {
      guard let window = campaign.window(at: site) else { continue }
      if case .open = window.standing(at: wall) { continue }
      closed[site] = window
    }
    guard !closed.isEmpty else { return [] }
    return run.recall { device in
      let site = campaign.windows.decidingSite(for: device.device.site)
      guard let window = closed[site] else { return false }
      return device.phase == .published || (device.phase.isClaimed && window.atEnd == .breakOff)
    }
  }
}

extension FleetRun {
  fileprivate func job(of id: FleetDevice.ID, attempt: Int, verifyFirst: Bool) -> UpdateJob? {
    guard let run = beginning?.id, let device = self[id]?.device else { return nil }
    return UpdateJob(
      id: UpdateJob.ID(run: run, device: id, attempt: attempt), site: device.site,
      image: device.image, verifyFirst: verifyFirst)
  }

  fileprivate func recall(_ isMeant: (DeviceProgress) -> Bool) -> [FleetEffect] {
    guard let run = beginning?.id else { return [] }
    let jobs = devices.filter(isMeant).map {
      UpdateJob.ID(run: run, device: $0.device.id, attempt: $0.attempts)
    }
    return jobs.isEmpty ? [] : [.cancel(jobs)]
  }
}
