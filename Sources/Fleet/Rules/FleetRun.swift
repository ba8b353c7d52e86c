/// The state of a run, computed only by a fold over its events. The process that continues the run,
/// a terminal that watches the run, and the report therefore have the same state.
public struct FleetRun: Sendable {
  /// The state of a run.
  public enum Control: Hashable, Sendable {
    /// Attempts start as the campaign permits.
    case running
    /// No attempt starts.
    case paused(PauseReason)
    /// An operator cancelled the run, and attempts are still in progress.
    case cancelling
    /// The run has ended.
    case ended(RunEnding)
  }

  /// The start of the run; `nil` = the run has no events.
  public private(set) var beginning: RunBeginning?
  /// The time of the start; `nil` = the run has no events.
  public private(set) var beganAt: WallClockTime?
  /// The state of the run.
  public private(set) var control = Control.running
  /// The devices, in the order of the waves.
  public private(set) var devices: [DeviceProgress] = []
  /// The waves, in order.
  public private(set) var waves: [WaveProgress] = []
  /// The workers, in the order of their first claims.
  public private(set) var workers: [String] = []
  /// The pauses, in order.
  public private(set) var pauses: [PauseRecord] = []
  /// The commands of operators, in order.
  public private(set) var operators: [OperatorRecord] = []
  /// The operator's approval that the next `waveApproved` carries out; `nil` = none was recorded.
  private var approval: OperatorAction?
  /// The time of the last event. Time does not go back in a run; the engine compensates a clock
  /// that was set back.
  public private(set) var lastAt = WallClockTime(milliseconds: 0)
  /// The number of events.
  public private(set) var eventCount = 0
  /// The number of consecutive attempts, on any devices, that failed for a reason on the host.
  package private(set) var infrastructureFailures = 0
  /// The number of devices in each site whose job waits for a worker.
  package private(set) var published: [String?: Int] = [:]
  /// The number of devices that workers are updating.
  package private(set) var claimedCount = 0
  private var index: [FleetDevice.ID: Int] = [:]
  /// The devices of each site that may be published, soonest first; some entries may be stale. The
  /// queues are separate so that a site without workers delays no other site.
  private var queues: [String?: BinaryHeap<Queued>] = [:]

  private struct Queued: Comparable {
    let notBefore: WallClockTime
    let device: Int
    let stamp: Int

    static func < (left: Queued, right: Queued) -> Bool {
      (left.notBefore, left.device) < (right.notBefore, right.device)
    }
  }

  /// Creates the state of a run without events.
  public init() {}

  /// Returns the device with an id; `nil` = the run has no such device.
  public subscript(id: FleetDevice.ID) -> DeviceProgress? { index[id].map { devices[$0] } }

  /// Returns the device with an id (an address in any spelling) or a name.
  public func device(called name: String) -> DeviceProgress? {
    let identity = FleetDevice.identity(of: name)
    return self[name]
      ?? devices.first { $0.device.name == name }
      ?? devices.first { FleetDevice.identity(of: $0.device.id) == identity }
  }

  /// The first wave that is not passed; `nil` if all waves are passed.
  package var currentWave: Int? { waves.firstIndex { $0.phase != .passed } }

  /// The number of devices that are published or claimed.
  package var openCount: Int { published.values.reduce(claimedCount, +) }

  /// The hook that runs or must run now, and its wave.
  package var runningHook: (wave: Int, point: HookPoint)? {
    for (index, wave) in waves.enumerated() {
      if let point = wave.runningHook { return (index, point) }
    }
    return nil
  }

  /// The next device of each site and the time from which it may be published, the soonest first.
  package var nextInQueues: [(device: DeviceProgress, notBefore: WallClockTime)] {
    queues.values.compactMap(\.first).sorted().map { (devices[$0.device], $0.notBefore) }
  }

  /// The devices of open waves without a recorded next step, because the newest events of the run
  /// were lost.
  package var strandedDevices: [FleetDevice.ID] {
    devices.filter { $0.phase == .waiting && !$0.isQueued && waves[$0.wave].phase == .open }
      .map(\.device.id)
  }

  /// Returns the wall-clock time, or the time of the last event if the clock was set back.
  package func time(_ wall: WallClockTime) -> WallClockTime { max(wall, lastAt) }

  // MARK: The fold

  package mutating func apply(_ event: FleetEvent, at moment: WallClockTime) {
    eventCount += 1
    lastAt = max(lastAt, moment)
    switch event {
    case .runBegan(let beginning):
      self.beginning = beginning
      beganAt = moment
    case .wavePlanned(let wave, let name, let members): plan(wave, name, members)
    case .waveHookBegan(let wave, let point): waves[wave].hooks[point] = .running
    case .waveHookEnded(let wave, let point, let outcome):
      waves[wave].hooks[point] = .ended(outcome)
    case .waveBegan(let wave):
      waves[wave].phase = .open
      waves[wave].times.began = lastAt
      for device in waves[wave].devices { enqueue(device, from: moment) }
    case .waveSoaking(let wave, let until):
      waves[wave].phase = .soaking(until: until)
      waves[wave].times.soakBegan = lastAt
      waves[wave].times.soakUntil = until
    case .waveJudged(let wave, let verdict):
      waves[wave].verdict = verdict
      waves[wave].times.judged = lastAt
      waves[wave].phase = verdict == .continue ? .passed : .judged
    case .approvalAwaited(let wave):
      waves[wave].phase = .awaitingApproval
      waves[wave].times.approvalAsked = lastAt
    case .waveApproved(let wave):
      waves[wave].approve()
      waves[wave].times.approved = lastAt
      waves[wave].times.approvedBy = approval
      approval = nil
    case .operatorActed(let action):
      operators.append(OperatorRecord(action: action, at: lastAt))
      approval = action.kind == .approve ? action : nil
    case .runPaused(let reason):
      control = .paused(reason)
      pauses.append(PauseRecord(reason: reason, from: lastAt))
    case .runResumed:
      control = .running
      endPause()
      infrastructureFailures = 0
      for wave in waves.indices { waves[wave].passHooks() }
    case .runCancelled: control = .cancelling
    case .runEnded(let ending):
      control = .ended(ending)
      endPause()
    case .devicePublished(let id, _, _), .deviceClaimed(let id, _, _), .devicePlaced(let id, _, _),
      .deviceActivating(let id, _), .claimExpired(let id, _), .attemptEnded(let id, _, _),
      .transferBegan(let id, _, _), .deviceNotInRange(let id, _, _),
      .outcomeReportedLate(let id, _, _, _),
      .deviceHookEnded(let id, _, _, _),
      .deviceDeferred(let id, _), .deviceSettled(let id, _), .deviceRetried(let id):
      if let device = index[id] { apply(event, to: device, at: moment) }
    }
  }

  private mutating func endPause() {
    guard let last = pauses.indices.last, pauses[last].until == nil else { return }
    pauses[last].until = lastAt
  }

  private mutating func plan(_ wave: Int, _ name: String, _ members: [RunDevice]) {
    precondition(wave == waves.count, "waves are planned in order")
    let first = devices.count
    for (offset, member) in members.enumerated() {
      index[member.id] = first + offset
      devices.append(DeviceProgress(member, wave: wave))
    }
    waves.append(WaveProgress(name: name, devices: first..<devices.count))
  }

  private mutating func apply(_ event: FleetEvent, to index: Int, at moment: WallClockTime) {
    let before = devices[index].phase
    switch event {
    case .devicePublished(_, let attempt, _):
      devices[index].isQueued = false
      devices[index].attempts = attempt
      devices[index].lateOutcome = nil
      devices[index].phase = .published
      devices[index].stamp += 1
      dropStale(at: devices[index].device.site)
    case .deviceClaimed(_, let attempt, let worker):
      devices[index].phase = .claimed(worker: worker)
      devices[index].adapter = nil
      devices[index].lateOutcome = nil
      if !workers.contains(worker) { workers.append(worker) }
      devices[index].records.append(
        AttemptRecord(
          number: attempt, verifyFirst: devices[index].mayRunNewImage, worker: worker,
          began: lastAt))
    case .devicePlaced(_, _, let adapter):
      devices[index].adapter = adapter
      devices[index].updateLastRecord {
        $0.adapter = adapter
        $0.placed = lastAt
      }
    case .deviceActivating:
      // Recorded here, because an attempt has no outcome if its worker ended.
      devices[index].wasSeen = true
      devices[index].mayRunNewImage = true
      devices[index].updateLastRecord { $0.activating = lastAt }
    case .transferBegan(_, _, let offset):
      devices[index].wasSeen = true
      devices[index].updateLastRecord { $0.transferOffset = $0.transferOffset ?? offset }
    case .deviceHookEnded: break
    case .claimExpired:
      devices[index].phase = .published
      devices[index].updateLastRecord { $0.end(nil, at: lastAt) }
    case .deviceNotInRange:
      devices[index].phase = .published
      devices[index].updateLastRecord { $0.end(.returned(.notHeard), at: lastAt) }
    case .outcomeReportedLate(_, _, _, let ending):
      if devices[index].phase == .published { devices[index].lateOutcome = ending }
    case .attemptEnded(_, _, let ending):
      devices[index].phase = .waiting
      devices[index].updateLastRecord { $0.end(ending, at: lastAt) }
      noteEnding(ending, of: index)
    case .deviceDeferred(_, let until): enqueue(index, from: until)
    case .deviceSettled(_, let ending):
      devices[index].phase = .settled(ending)
      devices[index].isQueued = false
      devices[index].settledAt = moment
      devices[index].stamp += 1
      dropStale(at: devices[index].device.site)
      waves[devices[index].wave].tally.count(ending)
    case .deviceRetried: retry(index, at: moment)
    default: preconditionFailure("not an event of a device")
    }
    let after = devices[index].phase
    let change = (after == .published ? 1 : 0) - (before == .published ? 1 : 0)
    if change != 0 { published[devices[index].device.site, default: 0] += change }
    claimedCount += (after.isClaimed ? 1 : 0) - (before.isClaimed ? 1 : 0)
  }

  private mutating func noteEnding(_ ending: AttemptEnding, of index: Int) {
    switch ending {
    case .updated(let figures):
      devices[index].figures = figures
      devices[index].runs = figures.to
      infrastructureFailures = 0
      devices[index].wasSeen = true
    case .current(let version):
      devices[index].runs = version
      infrastructureFailures = 0
      devices[index].wasSeen = true
    case .failed(let failure):
      infrastructureFailures =
        failure.kind == .infrastructure ? infrastructureFailures + 1 : 0
      devices[index].wasSeen = devices[index].wasSeen || failure.wasSeen
      devices[index].count(failure)
    case .returned(let reason):
      if reason.countsAsLink { devices[index].linkFailures += 1 }
      if reason == .deviceBusy { devices[index].wasSeen = true }
      if reason == .adapterLost { infrastructureFailures += 1 }
      // The record of an activation may also be lost, so the device may run the new image.
      if reason == .outcomeLost { devices[index].mayRunNewImage = true }
    case .skipped: break
    }
  }

  /// Applies an operator's retry of a settled device, which reopens its wave.
  private mutating func retry(_ index: Int, at moment: WallClockTime) {
    let wave = devices[index].wave
    if case .settled(let ending) = devices[index].phase { waves[wave].tally.count(ending, by: -1) }
    devices[index].startOver()
    waves[wave].phase = .open
    waves[wave].verdict = nil
    waves[wave].hooks[.afterWave] = nil
    if case .ended = control { control = .running }
    enqueue(index, from: moment)
  }

  private mutating func enqueue(_ device: Int, from notBefore: WallClockTime) {
    guard case .waiting = devices[device].phase else { return }
    devices[device].stamp += 1
    devices[device].isQueued = true
    devices[device].notBefore = notBefore
    let site = devices[device].device.site
    queues[site, default: BinaryHeap()].insert(
      Queued(notBefore: notBefore, device: device, stamp: devices[device].stamp))
    dropStale(at: site)
  }

  /// Removes stale entries from the front of a queue, so that its first entry is always valid.
  private mutating func dropStale(at site: String?) {
    while let first = queues[site]?.first, devices[first.device].stamp != first.stamp {
      queues[site]?.removeFirst()
    }
  }
}

extension ReturnReason {
  /// Whether the attempt counts towards the device's attempt limit.
  package var countsAsLink: Bool {
    switch self {
    case .notHeard, .deviceBusy: true
    case .recalled, .stopping, .claimLost, .holderGone, .adapterLost, .outcomeLost: false
    }
  }
}
