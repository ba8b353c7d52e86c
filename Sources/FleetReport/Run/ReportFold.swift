import OtaflashFleet

/// What a report needs beside what `FleetRun` keeps: every attempt, and when what happened.
struct ReportFold {
  private(set) var run = FleetRun()
  private(set) var workers: [String] = []
  private(set) var pauses: [PauseReport] = []
  private(set) var operators: [OperatorReport] = []
  /// The approval that the next approved wave follows from.
  private var approval: OperatorAction?
  private var index: [FleetDevice.ID: Int] = [:]
  private var attempts: [[AttemptReport]] = []
  private var looks: [Bool] = []
  private var times: [WaveTimes] = []
  private var known: Set<String> = []

  mutating func apply(_ recorded: RecordedEvent) {
    run.apply(recorded.event, at: recorded.at)
    // A clock that was set back does not turn the report's.
    let moment = run.lastAt
    switch recorded.event {
    case .wavePlanned(_, _, let devices):
      times.append(WaveTimes())
      for device in devices {
        index[device.id] = attempts.count
        attempts.append([])
        looks.append(false)
      }
    case .waveBegan(let wave): times[wave].began = moment
    case .waveSoaking(let wave, let until):
      times[wave].soakBegan = moment
      times[wave].soakUntil = until
    case .waveJudged(let wave, _): times[wave].judged = moment
    case .approvalAwaited(let wave): times[wave].approvalAsked = moment
    case .waveApproved(let wave):
      times[wave].approved = moment
      times[wave].approvedBy = approval
      approval = nil
    case .operatorActed(let action):
      operators.append(OperatorReport(action: action, at: moment))
      approval = action.kind == .approve ? action : nil
    case .runPaused(let reason): pauses.append(PauseReport(reason: reason, from: moment))
    case .runResumed, .runEnded: endPause(at: moment)
    case .devicePublished(let id, _, let look): if let device = index[id] { looks[device] = look }
    case .deviceClaimed(let id, let attempt, let worker):
      if known.insert(worker).inserted { workers.append(worker) }
      if let device = index[id] {
        attempts[device].append(
          AttemptReport(number: attempt, look: looks[device], worker: worker, began: moment))
      }
    case .devicePlaced(let id, _, let adapter):
      updateLast(of: id) {
        $0.adapter = adapter
        $0.placed = moment
      }
    case .deviceActivating(let id, _): updateLast(of: id) { $0.activating = moment }
    case .claimExpired(let id, _): end(id, as: .claimExpired, at: moment)
    case .attemptEnded(let id, _, let ending):
      switch ending {
      case .updated(let figures): end(id, as: .updated(figures), at: moment)
      case .current(let version): end(id, as: .current(version), at: moment)
      case .failed(let failure): end(id, as: .failed(failure), at: moment)
      case .skipped(let words): end(id, as: .skipped(words: words), at: moment)
      case .returned(let reason): end(id, as: .returned(reason), at: moment)
      }
    case .runBegan, .runCancelled, .waveHookBegan, .waveHookEnded, .deviceHookEnded,
      .deviceDeferred, .deviceSettled, .deviceRetried:
      break
    }
  }

  private mutating func updateLast(
    of id: FleetDevice.ID, _ change: (inout AttemptReport) -> Void
  ) {
    guard let device = index[id], var attempt = attempts[device].popLast() else { return }
    if attempt.ended == nil { change(&attempt) }
    attempts[device].append(attempt)
  }

  private mutating func end(
    _ id: FleetDevice.ID, as ending: AttemptReport.Ending, at moment: FleetTime
  ) {
    updateLast(of: id) {
      $0.ending = ending
      $0.ended = moment
    }
  }

  private mutating func endPause(at moment: FleetTime) {
    guard let last = pauses.indices.last, pauses[last].until == nil else { return }
    pauses[last].until = moment
  }

  // MARK: Its parts

  var state: RunReport.State {
    switch run.control {
    case .running:
      let waiting = run.waves.firstIndex { $0.phase == .awaitingApproval }
      return waiting.map { .awaitingApproval(wave: $0) } ?? .running
    case .paused(let reason): return .paused(reason)
    case .cancelling: return .cancelling
    case .ended(let ending): return .ended(ending)
    }
  }

  private var hasEnded: Bool { if case .ended = run.control { true } else { false } }

  var devices: [DeviceReport] {
    let hasEnded = hasEnded
    return zip(run.devices, attempts).map { progress, attempts in
      let standing: DeviceReport.Standing =
        switch progress.phase {
        case .settled(let ending): .settled(ending)
        case .claimed: .running
        case .waiting, .published: hasEnded ? .leftOut : .waiting
        }
      return DeviceReport(
        device: progress.device, wave: progress.wave, standing: standing, attempts: attempts,
        settled: progress.settledAt)
    }
  }

  func waves(of devices: [DeviceReport]) -> [WaveReport] {
    zip(run.waves, times).enumerated().map { number, wave in
      let rules = run.beginning?.waveRules ?? []
      return WaveReport(
        name: wave.0.name, rule: number < rules.count ? rules[number] : nil,
        devices: wave.0.devices, counts: OutcomeCounts(devices[wave.0.devices]),
        phase: wave.0.phase, verdict: wave.0.verdict, isOver: hasEnded, times: wave.1)
    }
  }
}
