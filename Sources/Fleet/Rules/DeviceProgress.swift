import OtaflashFirmware

/// The progress of a device in a run.
public struct DeviceProgress: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    /// The device waits for its wave or its next attempt.
    case waiting
    /// The job of the device waits for a worker.
    case published
    case claimed(worker: String)
    case settled(DeviceEnding)

    package var isClaimed: Bool { if case .claimed = self { true } else { false } }
  }

  public let device: RunDevice
  public let wave: Int
  public internal(set) var phase = Phase.waiting
  /// The earliest start of the next attempt.
  public internal(set) var notBefore = WallClockTime(milliseconds: 0)
  /// The number of published attempts.
  public internal(set) var attempts = 0
  /// The number of attempts that ended by the link, or without finding the device.
  public internal(set) var linkFailures = 0
  /// The number of failures by code.
  public internal(set) var failures: [String: Int] = [:]
  public internal(set) var lastFailure: AttemptFailure?
  public internal(set) var wasSeen = false
  /// Whether the activation command was sent or about to be sent: the next attempt reads the
  /// running image before it sends anything.
  public internal(set) var mayRunNewImage = false
  public internal(set) var adapter: String?
  public internal(set) var figures: UpdateFigures?
  /// The running version at the end of the last update or check.
  public internal(set) var runs: FirmwareVersion?
  /// Attempts that a worker claimed.
  public internal(set) var records: [AttemptRecord] = []
  /// The outcome that a worker reported after its claim expired; `nil` after another claim.
  var lateOutcome: AttemptEnding?
  /// Whether the published attempt reads the running image before it sends anything.
  var verifiesFirst = false
  public internal(set) var settledAt: WallClockTime?
  /// Whether the device is in the queue and waits for its turn or its next attempt.
  var isQueued = false
  /// The number of times that the device was queued.
  var stamp = 0

  init(_ device: RunDevice, wave: Int) {
    self.device = device
    self.wave = wave
  }

  public var ending: DeviceEnding? {
    if case .settled(let ending) = phase { ending } else { nil }
  }

  mutating func count(_ failure: AttemptFailure) {
    failures[failure.code, default: 0] += 1
    lastFailure = failure
    if failure.kind == .link { linkFailures += 1 }
  }

  /// The record of the attempt of a worker that has not ended.
  var openRecord: AttemptRecord? {
    guard let last = records.last, last.ended == nil else { return nil }
    return last
  }

  mutating func updateLastRecord(_ change: (inout AttemptRecord) -> Void) {
    guard let last = records.indices.last, records[last].ended == nil else { return }
    change(&records[last])
  }

  mutating func startOver() {
    phase = .waiting
    linkFailures = 0
    failures = [:]
    settledAt = nil
  }
}

/// The progress of a wave in a run.
public struct WaveProgress: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    case planned
    case open
    case soaking(until: WallClockTime)
    /// The wave has a verdict other than continue.
    case judged
    case awaitingApproval
    case passed
  }

  /// The state of a hook of the wave.
  public enum Hook: Hashable, Sendable {
    case running
    case ended(HookOutcome)
    /// The hook failed, and an operator continued the run.
    case overridden(HookOutcome)
  }

  public let name: String
  /// The indexes of its devices in the run.
  public let devices: Range<Int>
  public internal(set) var phase = Phase.planned
  public internal(set) var tally: WaveTally
  public internal(set) var verdict: WaveVerdict?
  public internal(set) var times = WaveTimes()
  public internal(set) var hooks: [HookPoint: Hook] = [:]

  init(name: String, devices: Range<Int>) {
    self.name = name
    self.devices = devices
    tally = WaveTally(size: devices.count)
  }

  public var isSettled: Bool { tally.settled == tally.size }

  /// The hook that runs or must run now.
  package var runningHook: HookPoint? { hooks.first { $0.value == .running }?.key }

  /// An operator continues after the verdict. A wave that paused at its failure limit with devices
  /// left is open again, and the failures so far no longer count towards the limit.
  mutating func approve() {
    guard case .stop = verdict, !isSettled else {
      phase = .passed
      return
    }
    tally.accepted = tally.failed
    phase = .open
    verdict = nil
    hooks[.afterWave] = nil
  }

  /// Applies the continuation after a pause: a failed hook before the wave runs again, a failed
  /// hook after the wave is overridden.
  mutating func passHooks() {
    if case .ended(let outcome) = hooks[.beforeWave], !outcome.isSuccess {
      hooks[.beforeWave] = nil
    }
    if case .ended(let outcome) = hooks[.afterWave], !outcome.isSuccess {
      hooks[.afterWave] = .overridden(outcome)
    }
  }
}
