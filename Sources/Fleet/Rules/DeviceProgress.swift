import OtaflashFirmware

/// Where a device of a run stands.
public struct DeviceProgress: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    /// For its wave, or for its next attempt.
    case waiting
    /// Its job waits for a worker.
    case published
    case claimed(worker: String)
    case settled(DeviceEnding)

    package var isClaimed: Bool { if case .claimed = self { true } else { false } }
  }

  public let device: RunDevice
  public let wave: Int
  public internal(set) var phase = Phase.waiting
  /// The next attempt begins no earlier.
  public internal(set) var notBefore = WallClockTime(milliseconds: 0)
  /// Attempts that were published.
  public internal(set) var attempts = 0
  /// Those that ended by the link, or without the device being found.
  public internal(set) var linkFailures = 0
  /// Failures by their code.
  public internal(set) var failures: [String: Int] = [:]
  public internal(set) var lastFailure: AttemptFailure?
  public internal(set) var wasSeen = false
  /// It was told to start the image, or was about to be: what it runs is to be looked at before
  /// anything is sent.
  public internal(set) var mayRunNewImage = false
  public internal(set) var adapter: String?
  public internal(set) var figures: UpdateFigures?
  /// The version that it ran when it last said so after an update, or instead of one.
  public internal(set) var runs: FirmwareVersion?
  /// Attempts that a worker claimed.
  public internal(set) var records: [AttemptRecord] = []
  /// The published attempt asks the device what it runs before anything is sent.
  var verifiesFirst = false
  public internal(set) var settledAt: WallClockTime?
  /// It has a place in the queue: it waits for its turn or its next attempt.
  var isQueued = false
  /// Counts the places it has had in the queue.
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

/// Where a wave of a run stands.
public struct WaveProgress: Hashable, Sendable {
  public enum Phase: Hashable, Sendable {
    case planned
    case open
    case soaking(until: WallClockTime)
    /// A verdict other than to go on was given.
    case judged
    case awaitingApproval
    case passed
  }

  /// Where one of its hooks stands.
  public enum Hook: Hashable, Sendable {
    case running
    case ended(HookOutcome)
    /// It failed, and a person went on all the same.
    case overridden(HookOutcome)
  }

  public let name: String
  /// Its devices, by their place in the run.
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

  /// The hook that is to run now, or runs.
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

  /// A person goes on after a pause: the hook before the wave runs once more, the one behind it has
  /// said what it had to say.
  mutating func passHooks() {
    if case .ended(let outcome) = hooks[.beforeWave], !outcome.isSuccess {
      hooks[.beforeWave] = nil
    }
    if case .ended(let outcome) = hooks[.afterWave], !outcome.isSuccess {
      hooks[.afterWave] = .overridden(outcome)
    }
  }
}
