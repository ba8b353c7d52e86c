/// The effect of a recorded event. An effect may be repeated after a crash: the exchange ignores
/// repetitions of its calls, and a hook runs again.
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
      guard let job = job(of: id, attempt: attempt, verifyFirst: verifyFirst, in: run) else {
        return []
      }
      return [.publish(job)]
    case .waveHookBegan(let wave, let point): return [.runHook(wave: wave, point)]
    case .waveJudged(_, .stop), .runPaused: return run.recall { $0.phase == .published }
    // A job that waits for a worker is cancelled if its outcome is known.
    case .outcomeReportedLate(let id, _, _, _):
      return run.recall { $0.device.id == id && $0.lateOutcome != nil }
    case .runCancelled: return run.recall { $0.phase == .published || $0.phase.isClaimed }
    default: return []
    }
  }

  /// Returns the first events of a process that continues a run: the previous process has ended,
  /// and its newest events may be lost.
  ///
  /// - Parameter workersLive: whether workers are other processes. Their claims stay valid until
  ///   they expire.
  package func eventsOfRestart(
    in run: FleetRun, now: WallClockTime, workersLive: Bool = false
  ) -> [FleetEvent] {
    let now = run.time(now)
    let claimed = workersLive ? [] : run.devices.filter(\.phase.isClaimed)
    let abandoned = claimed.flatMap { device -> [FleetEvent] in
      let id = device.device.id
      return [
        .attemptEnded(device: id, attempt: device.attempts, ending: .returned(.holderGone)),
        .deviceDeferred(device: id, until: now),
      ]
    }
    return abandoned + run.strandedDevices.map { .deviceDeferred(device: $0, until: now) }
  }

  /// Returns the effects that a process repeats when it continues a run: an event may have been
  /// recorded without its effect.
  ///
  /// - Parameter workersLive: whether the workers are other processes, whose jobs the exchange may
  ///   have lost.
  package func effectsToRepeat(
    in run: FleetRun, workersLive: Bool = false
  ) -> [FleetEffect] {
    let hooks = run.runningHook.map { [FleetEffect.runHook(wave: $0.wave, $0.point)] } ?? []
    let jobs =
      hooks
      + run.devices.compactMap { device -> FleetEffect? in
        guard device.phase == .published || workersLive && device.phase.isClaimed else {
          return nil
        }
        return job(
          of: device.device.id, attempt: device.attempts, verifyFirst: device.mayRunNewImage,
          in: run
        ).map { .publish($0) }
      }
      + run.recall { $0.phase == .published && $0.lateOutcome != nil }
    switch run.control {
    case .cancelling:
      return jobs + run.recall { $0.phase == .published || $0.phase.isClaimed }
    case .paused: return jobs + run.recall { $0.phase == .published }
    case .running, .ended: return jobs
    }
  }

  /// Returns the effects of closed windows: waiting jobs are cancelled. Running jobs are also
  /// cancelled if their window interrupts transfers.
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

  /// Returns the job of an attempt, complete with the order for the worker.
  private func job(
    of id: FleetDevice.ID, attempt: Int, verifyFirst: Bool, in run: FleetRun
  ) -> UpdateJob? {
    guard let name = run.beginning?.id, let progress = run[id] else { return nil }
    let device = progress.device
    var order = WorkOrder()
    order.name = device.name
    order.options = campaign.flash
    order.requirements = campaign.requirements
    order.key = keys(device)
    order.search = search
    if campaign.hooks[.beforeDevice] != nil || campaign.hooks[.afterDevice] != nil {
      order.hooks = campaign.hooks
      order.hookFacts = HookFacts(of: progress, attempt: attempt, campaign, run).environment
    }
    return UpdateJob(
      id: UpdateJob.ID(run: name, device: id, attempt: attempt), site: device.site,
      image: device.image, verifyFirst: verifyFirst, order: order)
  }
}

extension FleetRun {
  fileprivate func recall(_ isMeant: (DeviceProgress) -> Bool) -> [FleetEffect] {
    guard let run = beginning?.id else { return [] }
    let jobs = devices.filter(isMeant).map {
      UpdateJob.ID(run: run, device: $0.device.id, attempt: $0.attempts)
    }
    return jobs.isEmpty ? [] : [.cancel(jobs)]
  }
}
