/// What happens next in a run: a function of where it stands, of the clock and of what was heard.
/// What it returns are events, to be recorded before anything is done about them.
package struct FleetRules: Sendable {
  package let campaign: Campaign
  /// Jobs that may wait for a worker of one place at a time: enough that no radio waits, few enough
  /// that what a failure threshold stops has not been begun.
  package let publishedAhead: Int

  package init(_ campaign: Campaign, publishedAhead: Int = 4) {
    self.campaign = campaign
    self.publishedAhead = publishedAhead
  }

  // MARK: By itself

  /// One step that the run takes by itself, or nothing. To be called again, until nothing comes.
  ///
  /// - Parameter wall: what the wall's clock shows, for windows; `nil` = the same as `now`.
  package func next(
    in run: FleetRun, now: WallClockTime, wall: WallClockTime? = nil
  ) -> [FleetEvent] {
    let now = run.time(now)
    switch run.control {
    case .ended: return []
    case .cancelling: return run.openCount == 0 ? [.runEnded(.cancelled)] : []
    case .paused: return []
    case .running: break
    }
    if run.infrastructureFailures >= campaign.retries.infrastructureFailures {
      return [.runPaused(because: infrastructurePause(run))]
    }
    if run.runningHook != nil { return [] }
    if let pause = hookPause(run) { return [pause] }
    guard let wave = run.currentWave else {
      return run.openCount == 0 ? [.runEnded(.complete(failed: run.notSucceeded))] : []
    }
    return next(of: wave, in: run, now: now, wall: wall ?? now)
  }

  private func next(
    of wave: Int, in run: FleetRun, now: WallClockTime, wall: WallClockTime
  ) -> [FleetEvent] {
    let progress = run.waves[wave]
    let thresholds = campaign.waves[wave].thresholds
    switch progress.phase {
    case .planned:
      guard campaign.hooks[.beforeWave] != nil, progress.hooks[.beforeWave] == nil else {
        return [.waveBegan(wave: wave)]
      }
      return [.waveHookBegan(wave: wave, point: .beforeWave)]
    case .open:
      if progress.tally.reachesStop(of: thresholds) {
        let verdict = WaveVerdict.stop(failures: progress.tally.failed, of: progress.tally.size)
        return [.waveJudged(wave: wave, verdict: verdict)]
      }
      guard progress.isSettled else { return publication(in: run, now: now, wall: wall) }
      let soak = campaign.waves[wave].soak
      guard soak > .zero else { return judgement(of: wave, progress) }
      return [.waveSoaking(wave: wave, until: now.advanced(by: soak))]
    case .soaking(let until): return now >= until ? judgement(of: wave, progress) : []
    case .judged:
      guard run.openCount == 0 else { return [] }
      if progress.hooks[.afterWave] == nil, campaign.hooks[.afterWave] != nil {
        return hookAfter(wave)
      }
      // Where nothing is left that could be held back, nothing was stopped.
      if wave == campaign.waves.count - 1, progress.isSettled {
        return [.runEnded(.complete(failed: run.notSucceeded))]
      }
      switch progress.verdict {
      case .stop where thresholds.stopAction == .pause:
        return [.runPaused(because: .failureLimit(wave: wave))]
      case .stop: return [.runEnded(.stopped(wave: wave))]
      case .inconclusive, .continue, nil: return [.runPaused(because: .inconclusive(wave: wave))]
      }
    case .awaitingApproval, .passed: return []
    }
  }

  private func judgement(of wave: Int, _ progress: WaveProgress) -> [FleetEvent] {
    let verdict = progress.tally.verdict(by: campaign.waves[wave].thresholds)
    let judged = FleetEvent.waveJudged(wave: wave, verdict: verdict)
    let isLast = wave == campaign.waves.count - 1
    // Any other verdict waits until nobody is at work.
    guard verdict == .continue else { return [judged] }
    guard campaign.waves[wave].needsApproval, !isLast else { return [judged] + hookAfter(wave) }
    return [judged, .approvalAwaited(wave: wave)] + hookAfter(wave)
  }

  private func publication(
    in run: FleetRun, now: WallClockTime, wall: WallClockTime
  ) -> [FleetEvent] {
    let next = waiting(in: run).first { candidate in
      candidate.notBefore <= now && isOpen(at: candidate.device.device.site, wall)
    }
    guard let device = next?.device else { return [] }
    return [
      .devicePublished(
        device: device.device.id, attempt: device.attempts + 1, verifyFirst: device.mayRunNewImage)
    ]
  }

  /// The next device of each place that has room for another job.
  private func waiting(in run: FleetRun) -> [(device: DeviceProgress, notBefore: WallClockTime)] {
    guard hasRoom(in: run) else { return [] }
    return run.nextInQueues.filter { run.published[$0.device.device.site] ?? 0 < publishedAhead }
  }

  /// Whether another failure would still be within what the wave permits beyond its limit.
  private func hasRoom(in run: FleetRun) -> Bool {
    guard let wave = run.currentWave else { return true }
    let room = run.waves[wave].tally.room(
      beside: run.openCount, by: campaign.waves[wave].thresholds)
    return room.map { $0 > 0 } ?? true
  }

  private func isOpen(at site: String?, _ now: WallClockTime) -> Bool {
    guard let window = campaign.window(at: site) else { return true }
    if case .open = window.standing(at: now) { return true }
    return false
  }

  private func infrastructurePause(_ run: FleetRun) -> PauseReason {
    let failure = run.devices.compactMap(\.lastFailure).last { $0.kind == .infrastructure }
    return .infrastructure(
      failures: run.infrastructureFailures,
      words: failure?.words ?? ReturnReason.adapterLost.words)
  }

  /// The moment at which something may happen by itself; `nil` = only a fact or a person can help.
  ///
  /// - Parameter wall: as for `next`; the moment is one of `now`'s clock.
  package func nextMoment(
    in run: FleetRun, now: WallClockTime, wall: WallClockTime? = nil
  ) -> WallClockTime? {
    let now = run.time(now)
    let wall = wall ?? now
    guard case .running = run.control, let wave = run.currentWave else { return nil }
    switch run.waves[wave].phase {
    case .soaking(let until): return until
    case .open:
      let waiting = waiting(in: run)
      guard !waiting.isEmpty else {
        return windowEnd(wall).map { now.advanced(by: wall.duration(to: $0)) }
      }
      return waiting.compactMap { candidate in
        moment(
          from: candidate.notBefore, at: candidate.device.device.site, now: now, wall: wall)
      }.min()
    case .planned, .judged, .awaitingApproval, .passed: return nil
    }
  }

  /// When a device of a site may be published.
  private func moment(
    from notBefore: WallClockTime, at site: String?, now: WallClockTime, wall: WallClockTime
  ) -> WallClockTime? {
    guard let window = campaign.window(at: site) else { return notBefore }
    let begins = wall.advanced(by: now.duration(to: max(now, notBefore)))
    switch window.standing(at: begins) {
    case .open: return notBefore
    case .closed(let until): return now.advanced(by: wall.duration(to: until))
    case .over: return nil
    }
  }

  /// When the next window closes that interrupts transfers.
  private func windowEnd(_ wall: WallClockTime) -> WallClockTime? {
    campaign.windows.all.compactMap { window in
      guard window.atEnd == .breakOff, case .open(let until) = window.standing(at: wall) else {
        return nil
      }
      return until
    }.min()
  }

  // MARK: After facts

  /// What a fact means for the run: its event, and what follows from it. A fact of an attempt that
  /// is over, or of another run, means nothing: it came twice, or too late.
  ///
  /// - Parameter random: 0 ..< 1, for the wait before the next attempt.
  package func events(
    after fact: JobFact, in run: FleetRun, now: WallClockTime, random: Double
  ) -> [FleetEvent] {
    guard fact.job.run == run.beginning?.id, let device = run[fact.job.device],
      device.attempts == fact.job.attempt, device.phase == .published || device.phase.isClaimed
    else { return [] }
    guard case .attemptEnded(_, _, let ending) = fact.event else { return [fact.event] }
    return [fact.event, consequence(of: ending, for: device, now: run.time(now), random: random)]
  }

  private func consequence(
    of ending: AttemptEnding, for device: DeviceProgress, now: WallClockTime, random: Double
  ) -> FleetEvent {
    let id = device.device.id
    switch ending {
    case .updated: return .deviceSettled(device: id, ending: .updated)
    case .current:
      // A device that was told to start the image, and never answered, was updated all the same.
      return .deviceSettled(device: id, ending: device.mayRunNewImage ? .updated : .current)
    case .failed(let failure): return consequence(of: failure, for: device, now, random)
    case .skipped(let words): return .deviceSettled(device: id, ending: .skipped(words: words))
    case .returned(let reason) where reason.countsAsLink:
      let failure = AttemptFailure(
        .link, code: reason.rawValue, words: reason.words, wasSeen: reason == .deviceBusy)
      return consequence(of: failure, for: device, now, random)
    case .returned(.adapterLost):
      return later(device, after: 1, now, random)
    case .returned: return .deviceDeferred(device: id, until: now)
    }
  }

  private func consequence(
    of failure: AttemptFailure, for device: DeviceProgress, _ now: WallClockTime, _ random: Double
  ) -> FleetEvent {
    let id = device.device.id
    if failure.isFinal { return .deviceSettled(device: id, ending: .failed(failure)) }
    let same = (device.failures[failure.code] ?? 0) + 1
    switch failure.kind {
    case .infrastructure: return later(device, after: 1, now, random)
    case .device:
      guard same < campaign.retries.sameFailures else {
        return .deviceSettled(
          device: id, ending: same > 1 ? .quarantined(failure) : .failed(failure))
      }
      return later(device, after: same, now, random)
    case .link:
      let count = device.linkFailures + 1
      guard count < campaign.retries.linkAttempts else {
        let wasSeen = device.wasSeen || failure.wasSeen
        return .deviceSettled(device: id, ending: wasSeen ? .failed(failure) : .absent)
      }
      return later(device, after: count, now, random)
    }
  }

  private func later(
    _ device: DeviceProgress, after count: Int, _ now: WallClockTime, _ random: Double
  ) -> FleetEvent {
    let wait = campaign.retries.delay(afterFailure: count, random: random)
    return .deviceDeferred(device: device.device.id, until: now.advanced(by: wait))
  }
}

extension FleetRun {
  /// Devices that are settled, and not well.
  package var notSucceeded: Int {
    waves.reduce(0) { $0 + $1.tally.failed + $1.tally.unseen + $1.tally.neutral }
  }
}
