/// A campaign, which defines the devices, the image for each device, the order, and the conditions
/// for stopping. The complete campaign is checked before a run starts.
public struct Campaign: Hashable, Sendable {
  /// The name of the campaign, by which its runs are found.
  public var name: String
  /// The devices, with unique ids.
  public var devices: [FleetDevice]
  /// The firmware file of each kind of board; the file for `nil` applies to devices of all other
  /// boards and to devices without a board.
  public var images: [String?: String]
  /// The condition for devices that participate; `nil` = all devices.
  package var selector: DeviceExpression?
  /// One or more waves, in order.
  public var waves: [Wave]
  package var window: TransferWindow?
  /// The transfer windows of individual sites; each replaces `window` for the devices of its site.
  package var siteWindows: [String: TransferWindow] = [:]
  /// The limits and delays of repeated attempts.
  public var retries = RetryPolicy()
  /// The number of concurrent transfers on an adapter; `nil` = automatic.
  public var parallel: Int?
  /// The options of the updates.
  public var flash = FlashChoices()
  package var hooks = CampaignHooks()
  /// The conditions that a device must meet before it receives an image.
  public var requirements = DeviceRequirements()
  /// The file of the public key that verifies the signature of every image; `nil` = no signature is
  /// required.
  package var keyFile: String?
  /// The seed of the order in which devices are assigned to waves.
  public var seed: UInt64 = 1

  /// The maximum number of devices, which is larger than any real campaign; a larger number is a
  /// mistake.
  package static let devicesMaximum = 100_000
  package static let wavesMaximum = 100
  /// The range of `parallel`.
  package static let parallelTransfers = 1...64

  /// Creates a campaign with the default options. `CampaignPlan` checks it.
  public init(
    name: String, devices: [FleetDevice], images: [String?: String],
    waves: [Wave] = [Wave("all", .rest)]
  ) {
    self.name = name
    self.devices = devices
    self.images = images
    self.waves = waves
  }

  /// Returns the image file for a device; `nil` = the campaign has no image for the device.
  public func image(for device: FleetDevice) -> String? {
    device.board.flatMap { images[$0] } ?? images[nil]
  }

  package var windows: TransferWindows {
    TransferWindows(general: window, sites: siteWindows)
  }

  /// Returns the transfer window for devices at a site; `nil` = transfers may always start.
  package func window(at site: String?) -> TransferWindow? {
    site.flatMap { siteWindows[$0] } ?? window
  }
}

/// The reason why a campaign cannot be executed, reported before a run starts.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CampaignFault: Error, Hashable, Sendable {
  /// The campaign has no devices.
  case noDevices
  /// The campaign has more devices than `limit`.
  case tooManyDevices(count: Int, limit: Int)
  /// Two devices have the same id.
  case duplicateDevice(id: String)
  /// Two devices have the same name, or the id of one device is the name of another.
  case ambiguousName(String)
  /// The campaign has no image for the board of a device, or for a device without a board.
  case noImage(device: String, board: String?)
  /// The campaign has an image for a board that no device has.
  case imageForNoDevice(board: String)
  /// The selector matches no device.
  case noSelection
  /// The selector uses `facts`, which are unknown for `devices`.
  case undecided(devices: [String], facts: [String])
  /// The campaign has no waves.
  case noWaves
  /// The campaign has more waves than `limit`.
  case tooManyWaves(count: Int, limit: Int)
  /// Two waves have the same name.
  case duplicateWave(name: String)
  /// A wave has no devices.
  case emptyWave(name: String)
  /// The share of a wave does not exceed the share of the earlier waves.
  case shrinkingWave(name: String, percent: Int)
  /// A wave names a device that is not in the campaign.
  case unknownMember(wave: String, member: String)
  /// A wave names a device that is already in a wave.
  case memberTwice(wave: String, member: String)
  /// A wave requires more devices than remain after the earlier waves.
  case tooFewDevices(wave: String, wanted: Int, left: Int)
  /// Some devices are not in any wave.
  case uncovered(count: Int)
  /// An option has a value outside of its range.
  case valueOutOfRange(what: String, value: Int, range: ClosedRange<Int>)
  /// A transfer window is closed and does not open again; `site` is the site with this window,
  /// `nil` = the window of the campaign.
  case windowInThePast(site: String?)
  /// No device has the site of a window.
  case unknownSite(String)
}

extension CampaignFault: CustomStringConvertible {
  /// The fault, as a clause.
  public var description: String {
    switch self {
    case .noDevices: "there are no devices"
    case .tooManyDevices(let count, let limit):
      "there are \(count) devices; a campaign supports at most \(limit)"
    case .duplicateDevice(let id): "device \(id) is listed twice"
    case .ambiguousName(let name): "'\(name)' identifies two devices"
    case .noImage(let device, let board?): "there is no image for board '\(board)' of \(device)"
    case .noImage(let device, nil):
      "there is no image for \(device), which has no board"
    case .imageForNoDevice(let board):
      "there is an image for board '\(board)', but no device with this board"
    case .noSelection: "the selector matches no device"
    case .undecided(let devices, let facts):
      "the selector uses \(facts.joined(separator: ", ")), which is unknown for "
        + Self.list(devices)
    case .noWaves: "there are no waves"
    case .tooManyWaves(let count, let limit):
      "there are \(count) waves; a campaign supports at most \(limit)"
    case .duplicateWave(let name): "two waves have the name '\(name)'"
    case .emptyWave(let name): "wave '\(name)' has no devices"
    case .shrinkingWave(let name, let percent):
      "wave '\(name)' ends at \(percent) % of the devices, but earlier waves contain as many"
    case .unknownMember(let wave, let member):
      "wave '\(wave)' names '\(member)', which is not a device of the campaign"
    case .memberTwice(let wave, let member):
      "wave '\(wave)' names '\(member)', which is already in a wave"
    case .tooFewDevices(let wave, let wanted, let left):
      "wave '\(wave)' requires \(wanted) devices, but only \(left) remain"
    case .uncovered(let count): "\(count) devices are in no wave; add a last wave for the rest"
    case .valueOutOfRange(let what, let value, let range):
      "\(what) is \(value); the permitted range is \(range.lowerBound) to \(range.upperBound)"
    case .windowInThePast(nil): "the transfer window does not open again"
    case .windowInThePast(let site?):
      "the transfer window of site '\(site)' does not open again"
    case .unknownSite(let site): "no device has the site '\(site)'"
    }
  }

  /// Returns a text with the first names and the number of the other names.
  private static func list(_ names: [String]) -> String {
    let shown = names.prefix(3).joined(separator: ", ")
    guard names.count > 3 else { return shown }
    return names.count == 4 ? "\(shown) and 1 other" : "\(shown) and \(names.count - 3) others"
  }
}
