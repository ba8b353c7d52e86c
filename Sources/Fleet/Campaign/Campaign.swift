/// What is to be done: which devices get which image, in which order, and what ends it. Checked as
/// a whole, so that nothing has begun when something is wrong.
public struct Campaign: Hashable, Sendable {
  public var name: String
  public var devices: [FleetDevice]
  /// The firmware file of each kind of board; under `nil` the one for all others.
  public var images: [String?: String]
  /// Which of the devices take part; `nil` = all.
  package var selector: DeviceExpression?
  /// In their order; one or more.
  public var waves: [Wave]
  package var window: TransferWindow?
  /// The windows of sites that have one of their own, in the place of `window`.
  package var siteWindows: [String: TransferWindow] = [:]
  public var retries = RetryPolicy()
  /// Transfers side by side on an adapter; `nil` = learned.
  public var parallel: Int?
  public var flash = FlashChoices()
  package var hooks = CampaignHooks()
  public var requirements = DeviceRequirements()
  /// The file of the public key that every image must be signed by; `nil` = no signature is
  /// required.
  package var keyFile: String?
  /// Orders the devices within waves that name a number of them: the same seed, the same order.
  public var seed: UInt64 = 1

  /// More devices than any site has; what is beyond it is a slip.
  package static let devicesMaximum = 100_000
  package static let wavesMaximum = 100
  /// The range of `parallel`.
  package static let parallelTransfers = 1...64

  public init(
    name: String, devices: [FleetDevice], images: [String?: String],
    waves: [Wave] = [Wave("all", .rest)]
  ) {
    self.name = name
    self.devices = devices
    self.images = images
    self.waves = waves
  }

  /// The file for a device.
  public func image(for device: FleetDevice) -> String? {
    device.board.flatMap { images[$0] } ?? images[nil]
  }

  package var windows: TransferWindows {
    TransferWindows(general: window, sites: siteWindows)
  }

  /// When transfers to devices of a site may begin; `nil` = always.
  package func window(at site: String?) -> TransferWindow? {
    site.flatMap { siteWindows[$0] } ?? window
  }
}

/// Why a campaign cannot be carried out; said before anything else is done.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CampaignFault: Error, Hashable, Sendable {
  case noDevices
  case tooManyDevices(count: Int, limit: Int)
  case duplicateDevice(id: String)
  /// Two devices have one name, or the id of one is the name of another.
  case ambiguousName(String)
  case noImage(device: String, board: String?)
  case imageForNoDevice(board: String)
  case noSelection
  /// What the selector asks about is not known of these devices.
  case undecided(devices: [String], facts: [String])
  case noWaves
  case tooManyWaves(count: Int, limit: Int)
  case duplicateWave(name: String)
  case emptyWave(name: String)
  /// The shares of waves must grow.
  case shrinkingWave(name: String, percent: Int)
  case unknownMember(wave: String, member: String)
  case memberTwice(wave: String, member: String)
  case tooFewDevices(wave: String, wanted: Int, left: Int)
  case uncovered(count: Int)
  case valueOutOfRange(what: String, value: Int, range: ClosedRange<Int>)
  /// The window closed before the campaign began; `site` = that of a site.
  case windowInThePast(site: String?)
  case unknownSite(String)
}

extension CampaignFault: CustomStringConvertible {
  /// What is wrong: a clause.
  public var description: String {
    switch self {
    case .noDevices: "there are no devices"
    case .tooManyDevices(let count, let limit):
      "there are \(count) devices; \(limit) is the most that one campaign takes"
    case .duplicateDevice(let id): "device \(id) is listed twice"
    case .ambiguousName(let name): "'\(name)' names two devices"
    case .noImage(let device, let board?): "there is no image for board '\(board)' of \(device)"
    case .noImage(let device, nil):
      "there is no image for \(device), whose board is not said"
    case .imageForNoDevice(let board): "no device is a '\(board)', which has an image"
    case .noSelection: "the selector takes none of the devices"
    case .undecided(let devices, let facts):
      "the selector asks for \(facts.joined(separator: ", ")), which is not known of "
        + Self.list(devices)
    case .noWaves: "there are no waves"
    case .tooManyWaves(let count, let limit):
      "there are \(count) waves; \(limit) is the most that one campaign takes"
    case .duplicateWave(let name): "two waves are called '\(name)'"
    case .emptyWave(let name): "wave '\(name)' has no devices"
    case .shrinkingWave(let name, let percent):
      "wave '\(name)' ends at \(percent) % of the devices, which earlier waves have reached"
    case .unknownMember(let wave, let member):
      "wave '\(wave)' names '\(member)', which is no device"
    case .memberTwice(let wave, let member):
      "wave '\(wave)' names '\(member)', which is in a wave already"
    case .tooFewDevices(let wave, let wanted, let left):
      "wave '\(wave)' wants \(wanted) devices, and \(left) are left"
    case .uncovered(let count): "\(count) devices are in no wave; end with a wave of the rest"
    case .valueOutOfRange(let what, let value, let range):
      "\(what) is \(value); it is \(range.lowerBound) to \(range.upperBound)"
    case .windowInThePast(nil): "the time in which transfers may begin is over"
    case .windowInThePast(let site?):
      "the time in which transfers may begin at site '\(site)' is over"
    case .unknownSite(let site): "no device is at site '\(site)'"
    }
  }

  /// The first few by name, the others by number.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    guard names.count > 3 else { return shown }
    return names.count == 4 ? "\(shown) and 1 other" : "\(shown) and \(names.count - 3) others"
  }
}
