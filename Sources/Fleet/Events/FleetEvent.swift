/// What happened in a run, in the order in which it was recorded. Everything that is shown is a
/// fold over these (`FleetRun`); an intent is recorded before it is carried out, an outcome after.
///
/// Cases and labels are the names in the store, where they stay for ever: a later version adds
/// cases, and takes none away.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum FleetEvent: Hashable, Sendable, Codable {
  case runBegan(RunBeginning)
  case wavePlanned(wave: Int, name: String, devices: [RunDevice])
  /// A hook of the wave is to run: again, by whoever goes on with the run before it has ended.
  case waveHookBegan(wave: Int, point: HookPoint)
  case waveHookEnded(wave: Int, point: HookPoint, outcome: HookOutcome)
  case waveBegan(wave: Int)
  /// The device is to be worked on: attempt 1, 2, …; with `verifyFirst` it may run the new image
  /// already, and is asked before anything is sent.
  case devicePublished(device: FleetDevice.ID, attempt: Int, verifyFirst: Bool)
  case deviceClaimed(device: FleetDevice.ID, attempt: Int, worker: String)
  case devicePlaced(device: FleetDevice.ID, attempt: Int, adapter: String)
  /// The device is about to be told to start the image.
  case deviceActivating(device: FleetDevice.ID, attempt: Int)
  /// Whoever had it has not been heard of in time; somebody else may take it.
  case claimExpired(device: FleetDevice.ID, attempt: Int)
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

/// A device as the run knows it.
public struct RunDevice: Hashable, Sendable, Codable {
  public var id: FleetDevice.ID
  public var name: String?
  public var board: String?
  public var site: String?
  /// In their order; `nil` = none.
  public var tags: [String]?
  /// The image's digest.
  public var image: String
  /// The path of the file that holds its key, as the campaign names it.
  public var keyFile: String?
  /// How strongly its advertisements were received by the scan that found it, in dBm.
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
  /// So many attempts in a row failed for reasons of this side.
  case infrastructure(failures: Int, words: String)
  /// No adapter was there for too long; the run goes on by itself when one is.
  case noAdapter
  /// Too few devices were seen for a verdict on the wave.
  case inconclusive(wave: Int)
  /// The wave reached its failure limit, and the campaign pauses there.
  case failureLimit(wave: Int)
  /// A hook of the wave failed.
  case hook(wave: Int, point: HookPoint, words: String)
}

public enum RunEnding: Hashable, Sendable, Codable {
  /// Every device was settled; so many of them failed, were never seen, or were left out.
  case complete(failed: Int)
  /// A wave reached its failure threshold.
  case stopped(wave: Int)
  case cancelled
}
