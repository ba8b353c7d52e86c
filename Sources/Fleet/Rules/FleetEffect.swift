/// What is done about an event once it is recorded. Each may be done again after a crash: the
/// exchange leaves as it is what it has seen before.
package enum FleetEffect: Hashable, Sendable {
  case publish(UpdateJob)
  case cancel([UpdateJob.ID])
  case runHook(wave: Int, HookPoint)
}

extension FleetRules {
  /// - Parameter run: with the event applied.
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

  /// What a process records first that continues a run: the process before it is gone, with its
  /// workers, and may have lost its newest events.
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

  /// What has to be done again by a process that continues a run: an event may have been recorded
  /// and nothing done about it.
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

  /// What is to be called back because a window has closed: what waits, and what runs where the
  /// campaign breaks off.
  ///
  /// - Parameter wall: what the wall's clock shows.
  package func effectsOfClosing(in run: FleetRun, wall: WallClockTime) -> [FleetEffect] {
    guard case .running = run.control else { return [] }
    // Most campaigns have no window or one, and runs have thousands of devices.
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
