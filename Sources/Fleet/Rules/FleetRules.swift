/// The rules of a run, as functions of its state, the clock and facts. They return events, which
/// are recorded before they take effect.
package struct FleetRules: Sendable {
  package let campaign: Campaign
  /// The number of jobs that may wait for a worker of one site. It is large enough to keep the
  /// adapters busy, and small enough that a failure threshold stops most devices before they start.
  package let publishedAhead: Int
  /// The time for which workers that receive no advertisement of a device may return its job,
  /// before the attempt ends as `notHeard`. Zero = the first return ends the attempt.
  package var search = Duration.zero
  /// Returns the encrypted key of a device; `nil` = the device has no key, or its workers have the
  /// key.
  package var keys: @Sendable (RunDevice) -> SealedKey? = { _ in nil }

  package init(_ campaign: Campaign, publishedAhead: Int = 4) {
    self.campaign = campaign
    self.publishedAhead = publishedAhead
  }

  // MARK: Automatic steps

  /// Returns the events of the next automatic step, or an empty list. The caller repeats the call
  /// until the result is empty.
  ///
  /// - Parameter wall: the wall-clock time, for windows; `nil` = equal to `now`.
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
      // If all devices are settled, the run is complete instead of stopped.
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
    // Any other verdict waits until all workers have finished.
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

  /// Returns the next device of each site that has room for another job.
  private func waiting(in run: FleetRun) -> [(device: DeviceProgress, notBefore: WallClockTime)] {
    guard hasRoom(in: run) else { return [] }
    return run.nextInQueues.filter { run.published[$0.device.device.site] ?? 0 < publishedAhead }
  }

  /// Returns whether the wave permits another device in flight, which is one more possible failure.
  private func hasRoom(in run: FleetRun) -> Bool {
    guard let wave = run.currentWave else { return true }
    let room = run.waves[wave].tally.room(
      nextTo: run.openCount, by: campaign.waves[wave].thresholds)
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

  /// Returns the time of the next possible automatic step; `nil` = the run waits for a fact or an
  /// operator.
  ///
  /// - Parameter wall: the wall-clock time, for windows; `nil` = equal to `now`. The result refers
  ///   to the clock of `now`.
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

  /// Returns the time from which a device of a site may be published; `nil` = the window of the
  /// site does not open again.
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

  /// Returns the earliest closing time of the open windows that interrupt transfers.
  private func windowEnd(_ wall: WallClockTime) -> WallClockTime? {
    campaign.windows.all.compactMap { window in
      guard window.atEnd == .breakOff, case .open(let until) = window.standing(at: wall) else {
        return nil
      }
      return until
    }.min()
  }

  // MARK: After facts

  /// Returns the event of a fact and the events that follow from it. A fact of an ended attempt or
  /// of another run is ignored, because it is a duplicate or late. A fact that the run already
  /// contains is also ignored, because an exchange repeats each fact until the fact is
  /// acknowledged.
  ///
  /// - Parameter random: 0 ..< 1, for the wait before the next attempt.
  package func events(
    after fact: JobFact, in run: FleetRun, now: WallClockTime, random: Double
  ) -> [FleetEvent] {
    guard fact.job.run == run.beginning?.id, let device = run[fact.job.device],
      device.attempts == fact.job.attempt, device.phase == .published || device.phase.isClaimed
    else { return [] }
    switch fact.event {
    case .attemptEnded(let id, let attempt, let reported):
      // If the coordinator cancelled the job, the attempt ends with its late outcome, if it has
      // one.
      let ending = reported == .returned(.recalled) ? device.lateOutcome ?? reported : reported
      return [
        .attemptEnded(device: id, attempt: attempt, ending: ending),
        consequence(of: ending, for: device, now: run.time(now), random: random),
      ]
    case .deviceClaimed(let id, let attempt, let worker):
      guard case .claimed(let holder) = device.phase else { return [fact.event] }
      return holder == worker
        ? [] : [.claimExpired(device: id, attempt: attempt), fact.event]
    case .claimExpired, .deviceNotInRange: return device.phase.isClaimed ? [fact.event] : []
    case .devicePlaced(_, _, let adapter): return device.adapter == adapter ? [] : [fact.event]
    case .transferBegan: return device.openRecord?.transferOffset == nil ? [fact.event] : []
    case .deviceActivating: return device.openRecord?.activating == nil ? [fact.event] : []
    case .outcomeReportedLate(_, _, _, let ending):
      return device.lateOutcome == ending ? [] : [fact.event]
    default: return [fact.event]
    }
  }

  private func consequence(
    of ending: AttemptEnding, for device: DeviceProgress, now: WallClockTime, random: Double
  ) -> FleetEvent {
    let id = device.device.id
    switch ending {
    case .updated: return .deviceSettled(device: id, ending: .updated)
    case .current:
      // If an earlier attempt of this run may have activated the image, the device counts as
      // updated.
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
  /// The number of settled devices without success.
  package var notSucceeded: Int {
    waves.reduce(0) { $0 + $1.tally.failed + $1.tally.unseen + $1.tally.neutral }
  }
}
