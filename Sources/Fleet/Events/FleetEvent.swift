/// An event of a run. The state of a run is a fold over its events in their order (`FleetRun`). An
/// intent is recorded before it is carried out, an outcome after.
///
/// Cases and labels are permanent names in the store: a later version adds cases and removes none.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetEvent: Hashable, Sendable, Codable {
  case runBegan(RunBeginning)
  case wavePlanned(wave: Int, name: String, devices: [RunDevice])
  /// A hook of the wave must run. A process that continues the run before the hook ended runs it
  /// again.
  case waveHookBegan(wave: Int, point: HookPoint)
  case waveHookEnded(wave: Int, point: HookPoint, outcome: HookOutcome)
  case waveBegan(wave: Int)
  /// The device is offered to workers for attempt 1, 2, …. With `verifyFirst`, the device may
  /// already run the new image, and the attempt reads it before it sends anything.
  case devicePublished(device: FleetDevice.ID, attempt: Int, verifyFirst: Bool)
  case deviceClaimed(device: FleetDevice.ID, attempt: Int, worker: String)
  case devicePlaced(device: FleetDevice.ID, attempt: Int, adapter: String)
  /// The attempt started to send the image at an offset: after 0 the device receives it from the
  /// start.
  case transferBegan(device: FleetDevice.ID, attempt: Int, offset: Int)
  /// The activation command is about to be sent to the device.
  case deviceActivating(device: FleetDevice.ID, attempt: Int)
  /// The worker did not renew its claim in time; another worker may claim the device.
  case claimExpired(device: FleetDevice.ID, attempt: Int)
  /// No adapter of the worker receives the device; other workers may. Does not end the attempt.
  case deviceNotInRange(device: FleetDevice.ID, attempt: Int, worker: String)
  /// The worker reported the outcome after its claim expired. The outcome counts if no other worker
  /// claims the device afterwards.
  case outcomeReportedLate(
    device: FleetDevice.ID, attempt: Int, worker: String, ending: AttemptEnding)
  case deviceHookEnded(
    device: FleetDevice.ID, attempt: Int, point: HookPoint, outcome: HookOutcome)
  case attemptEnded(device: FleetDevice.ID, attempt: Int, ending: AttemptEnding)
  case deviceDeferred(device: FleetDevice.ID, until: WallClockTime)
  case deviceSettled(device: FleetDevice.ID, ending: DeviceEnding)
  case deviceRetried(device: FleetDevice.ID)
  case waveSoaking(wave: Int, until: WallClockTime)
  case waveJudged(wave: Int, verdict: WaveVerdict)
  case approvalAwaited(wave: Int)
  case waveApproved(wave: Int)
  /// An operator gave a command; the events that follow carry it out.
  case operatorActed(OperatorAction)
  case runPaused(because: PauseReason)
  case runResumed
  case runCancelled
  case runEnded(RunEnding)
}

extension FleetEvent {
  /// The names in the store.
  private enum DevicePublishedCodingKeys: String, CodingKey {
    case device, attempt
    case verifyFirst = "look"
  }
}

/// A device of a run.
public struct RunDevice: Hashable, Sendable, Codable {
  public var id: FleetDevice.ID
  public var name: String?
  public var board: String?
  public var site: String?
  /// In order; `nil` = none.
  public var tags: [String]?
  /// The image's digest.
  public var image: String
  /// The path of its key file, as in the campaign.
  public var keyFile: String?
  /// The RSSI of its advertisements in the scan that found it, in dBm.
  public var rssi: Int?

  public init(
    id: FleetDevice.ID, name: String? = nil, board: String? = nil, site: String? = nil,
    tags: [String]? = nil, image: String, keyFile: String? = nil, rssi: Int? = nil
  ) {
    self.id = id
    self.name = name
    self.board = board
    self.site = site
    self.tags = tags
    self.image = image
    self.keyFile = keyFile
    self.rssi = rssi
  }
}

#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PauseReason: Hashable, Sendable, Codable {
  case asked
  /// The number of consecutive attempts that failed for reasons on the host.
  case infrastructure(failures: Int, words: String)
  /// No adapter was present for too long; the run resumes automatically when an adapter appears.
  case noAdapter
  /// Too few devices were seen for a verdict on the wave.
  case inconclusive(wave: Int)
  /// The wave reached its failure limit, and the campaign pauses there.
  case failureLimit(wave: Int)
  /// A hook of the wave failed.
  case hook(wave: Int, point: HookPoint, words: String)
}

public enum RunEnding: Hashable, Sendable, Codable {
  /// Every device was settled; `failed` devices failed, were absent, or were skipped.
  case complete(failed: Int)
  /// A wave reached its failure threshold.
  case stopped(wave: Int)
  case cancelled
}
