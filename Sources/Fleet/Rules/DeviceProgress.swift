import OtaflashFirmware

/// The progress of a device in a run.
public struct DeviceProgress: Hashable, Sendable {
  /// The state of a device in its run.
  public enum Phase: Hashable, Sendable {
    /// The device waits for its wave or its next attempt.
    case waiting
    /// The job of the device waits for a worker.
    case published
    /// A worker is updating the device.
    case claimed(worker: String)
    /// The device has its final outcome.
    case settled(DeviceEnding)

    package var isClaimed: Bool { if case .claimed = self { true } else { false } }
  }

  /// The device.
  public let device: RunDevice
  /// The index of its wave, from 0.
  public let wave: Int
  /// The state of the device.
  public internal(set) var phase = Phase.waiting
  /// The earliest start of the next attempt.
  public internal(set) var notBefore = WallClockTime(milliseconds: 0)
  /// The number of published attempts.
  public internal(set) var attempts = 0
  /// The number of attempts that ended with a link failure, did not find the device, or found that
  /// another process uses the device.
  public internal(set) var linkFailures = 0
  /// The number of failures by code.
  public internal(set) var failures: [String: Int] = [:]
  /// The last failure; `nil` = the device has not failed.
  public internal(set) var lastFailure: AttemptFailure?
  /// Whether an attempt received an advertisement or an answer of the device.
  public internal(set) var wasSeen = false
  /// Whether the activation command was sent or was about to be sent, or whether this is unknown
  /// because the outcome of an attempt was lost. If so, the next attempt reads the running image
  /// before it sends anything.
  public internal(set) var mayRunNewImage = false
  /// The adapter of the last attempt; `nil` = no adapter was chosen.
  public internal(set) var adapter: String?
  /// The figures of the successful update; `nil` = no update has succeeded.
  public internal(set) var figures: UpdateFigures?
  /// The running version after the last update or check.
  public internal(set) var runs: FirmwareVersion?
  /// The attempts that workers claimed.
  public internal(set) var records: [AttemptRecord] = []
  /// The outcome that a worker reported after its claim expired; `nil` after another claim.
  var lateOutcome: AttemptEnding?
  /// The time of the final outcome; `nil` = the device has none.
  public internal(set) var settledAt: WallClockTime?
  /// Whether the device is in the queue, where it waits for its first or next attempt.
  var isQueued = false
  /// The number of times that the device was queued, which identifies stale queue entries.
  var stamp = 0

  init(_ device: RunDevice, wave: Int) {
    self.device = device
    self.wave = wave
  }

  /// The final outcome; `nil` = the device has none.
  public var ending: DeviceEnding? {
    if case .settled(let ending) = phase { ending } else { nil }
  }

  mutating func count(_ failure: AttemptFailure) {
    failures[failure.code, default: 0] += 1
    lastFailure = failure
    if failure.kind == .link { linkFailures += 1 }
  }

  /// The record of the attempt in progress; `nil` = no attempt is in progress.
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
  /// The state of a wave in its run.
  public enum Phase: Hashable, Sendable {
    /// The wave has not started.
    case planned
    /// Devices of the wave are being updated.
    case open
    /// All devices are settled; the verdict follows at the given time.
    case soaking(until: WallClockTime)
    /// The wave has a verdict other than continue.
    case judged
    /// The wave has its verdict, and the next wave waits for an operator's approval.
    case awaitingApproval
    /// The next wave may start.
    case passed
  }

  /// The state of a hook of the wave.
  public enum Hook: Hashable, Sendable {
    /// The hook runs or must run.
    case running
    /// The hook ended.
    case ended(HookOutcome)
    /// The hook failed, and an operator continued the run.
    case overridden(HookOutcome)
  }

  /// The name of the wave.
  public let name: String
  /// The indexes of its devices in the run.
  public let devices: Range<Int>
  /// The state of the wave.
  public internal(set) var phase = Phase.planned
  /// The number of devices by outcome.
  public internal(set) var tally: WaveTally
  /// The verdict; `nil` = the wave has none.
  public internal(set) var verdict: WaveVerdict?
  /// The times of the wave.
  public internal(set) var times = WaveTimes()
  /// The hooks of the wave that have started.
  public internal(set) var hooks: [HookPoint: Hook] = [:]

  init(name: String, devices: Range<Int>) {
    self.name = name
    self.devices = devices
    tally = WaveTally(size: devices.count)
  }

  /// Whether every device has its final outcome.
  public var isSettled: Bool { tally.settled == tally.size }

  /// The hook that runs or must run now.
  package var runningHook: HookPoint? { hooks.first { $0.value == .running }?.key }

  /// Applies an operator's `resume` after the verdict: the next wave may start. A wave that paused
  /// at its failure limit, and still has devices without an outcome, reopens, and earlier failures
  /// no longer count towards the limit.
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

  /// Applies an operator's `resume` after a pause: a failed hook before the wave runs again; the
  /// failure of a hook after the wave is overridden.
  mutating func passHooks() {
    if case .ended(let outcome) = hooks[.beforeWave], !outcome.isSuccess {
      hooks[.beforeWave] = nil
    }
    if case .ended(let outcome) = hooks[.afterWave], !outcome.isSuccess {
      hooks[.afterWave] = .overridden(outcome)
    }
  }
}
