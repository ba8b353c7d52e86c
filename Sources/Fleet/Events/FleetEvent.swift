/// An event of a run. The state of a run is a fold over its events in their order (`FleetRun`). An
/// intent is recorded before it is executed, an outcome afterwards.
///
/// Cases and labels are permanent names in the store, so a later version may add cases, but not
/// remove them.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetEvent: Hashable, Sendable, Codable {
  /// The run started.
  case runBegan(RunBeginning)
  /// The devices of a wave were assigned. `wave` is the index of the wave, from 0.
  case wavePlanned(wave: Int, name: String, devices: [RunDevice])
  /// A hook of the wave must run. If a process continues the run before the hook ended, it runs the
  /// hook again.
  case waveHookBegan(wave: Int, point: HookPoint)
  /// A hook of the wave ended.
  case waveHookEnded(wave: Int, point: HookPoint, outcome: HookOutcome)
  /// The devices of the wave may be updated.
  case waveBegan(wave: Int)
  /// The device is offered to workers for attempt 1, 2, …. With `verifyFirst`, the device may
  /// already run the new image, and the attempt reads the running image before it sends anything.
  case devicePublished(device: FleetDevice.ID, attempt: Int, verifyFirst: Bool)
  /// A worker claimed the attempt.
  case deviceClaimed(device: FleetDevice.ID, attempt: Int, worker: String)
  /// The worker chose an adapter for the attempt.
  case devicePlaced(device: FleetDevice.ID, attempt: Int, adapter: String)
  /// The attempt started to send the image at an offset; 0 = the device receives the complete
  /// image.
  case transferBegan(device: FleetDevice.ID, attempt: Int, offset: Int)
  /// The activation command is about to be sent to the device.
  case deviceActivating(device: FleetDevice.ID, attempt: Int)
  /// The worker did not renew its claim in time; another worker may claim the device.
  case claimExpired(device: FleetDevice.ID, attempt: Int)
  /// No adapter of the worker receives the device; other workers may. The event does not end the
  /// attempt.
  case deviceNotInRange(device: FleetDevice.ID, attempt: Int, worker: String)
  /// The worker reported the outcome after its claim expired. The outcome counts if no other worker
  /// claims the device afterwards.
  case outcomeReportedLate(
    device: FleetDevice.ID, attempt: Int, worker: String, ending: AttemptEnding)
  /// A hook of the device ended.
  case deviceHookEnded(
    device: FleetDevice.ID, attempt: Int, point: HookPoint, outcome: HookOutcome)
  /// An attempt ended.
  case attemptEnded(device: FleetDevice.ID, attempt: Int, ending: AttemptEnding)
  /// The next attempt on the device waits until a time.
  case deviceDeferred(device: FleetDevice.ID, until: WallClockTime)
  /// The device has its final outcome.
  case deviceSettled(device: FleetDevice.ID, ending: DeviceEnding)
  /// An operator retries the device.
  case deviceRetried(device: FleetDevice.ID)
  /// All devices of the wave are settled; its verdict follows at the given time.
  case waveSoaking(wave: Int, until: WallClockTime)
  /// The wave has a verdict.
  case waveJudged(wave: Int, verdict: WaveVerdict)
  /// The wave waits for the approval of an operator, before the next wave starts.
  case approvalAwaited(wave: Int)
  /// An operator approved the wave: the next wave may start. A wave that paused at its failure
  /// limit resumes instead if some of its devices have no outcome.
  case waveApproved(wave: Int)
  /// An operator gave a command; the events that follow carry it out.
  case operatorActed(OperatorAction)
  /// The run paused: no attempt starts, and attempts in progress are completed.
  case runPaused(because: PauseReason)
  /// The run resumed.
  case runResumed
  /// An operator cancelled the run: attempts in progress end at a safe point.
  case runCancelled
  /// The run ended.
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
  /// The id, as in the campaign.
  public var id: FleetDevice.ID
  /// The name; `nil` = the device has no name.
  public var name: String?
  /// The kind of board; `nil` = unspecified.
  public var board: String?
  /// The site; `nil` = any site.
  public var site: String?
  /// The tags, sorted; `nil` = the device has no tags.
  public var tags: [String]?
  /// The image's digest.
  public var image: String
  /// The path of the device's key file, as in the campaign; `nil` = the device has no key file.
  public var keyFile: String?
  /// The RSSI, in dBm, of the device's advertisements in the scan that found the device.
  public var rssi: Int?

  /// Creates a device of a run.
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

/// The reason of a pause.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PauseReason: Hashable, Sendable, Codable {
  /// An operator paused the run.
  case asked
  /// Too many consecutive attempts failed for reasons on the host; `failures` is their number.
  case infrastructure(failures: Int, words: String)
  /// No adapter was present for too long; the run resumes automatically when an adapter appears.
  case noAdapter
  /// The number of devices that succeeded or failed is too small for a verdict on the wave.
  case inconclusive(wave: Int)
  /// The wave reached its failure limit or has too few successes, and the campaign requires a pause
  /// in this case.
  case failureLimit(wave: Int)
  /// A hook of the wave failed.
  case hook(wave: Int, point: HookPoint, words: String)
}

/// The end of a run.
public enum RunEnding: Hashable, Sendable, Codable {
  /// Every device has a final outcome; `failed` counts the devices that failed, were absent or were
  /// skipped.
  case complete(failed: Int)
  /// The verdict of a wave stopped the run.
  case stopped(wave: Int)
  /// An operator cancelled the run.
  case cancelled
}
