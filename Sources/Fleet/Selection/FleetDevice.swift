import OtaflashFirmware

/// A device of a campaign, as its owner lists it. What nobody said is `nil`.
public struct FleetDevice: Hashable, Sendable {
  /// How a device is named within a campaign and on the command line: `C0:FF:EE:00:00:01`,
  /// `unix:/path`, `sim:PROFILE`. Unique in a campaign.
  public typealias ID = String

  public let id: ID
  /// What people call it. Unique in a campaign where it is given.
  public var name: String?
  /// The kind of board, which decides which image it gets.
  public var board: String?
  /// Where it stands: only adapters of this place can reach it. `nil` = anywhere.
  public var site: String?
  public var tags: Set<String>
  /// The file that holds its key.
  public var keyFile: String?
  /// What it ran when somebody last asked.
  public var version: FirmwareVersion?
  /// How strongly it was heard, in dBm, −127…20.
  public var rssi: Int?

  public init(
    id: ID, name: String? = nil, board: String? = nil, site: String? = nil,
    tags: Set<String> = [], keyFile: String? = nil, version: FirmwareVersion? = nil,
    rssi: Int? = nil
  ) {
    self.id = id
    self.name = name
    self.board = board
    self.site = site
    self.tags = tags
    self.keyFile = keyFile
    self.version = version
    self.rssi = rssi
  }

  /// The same for every spelling of one address: in capitals, and without its type, in which alone
  /// no two devices differ.
  package var identity: String { Self.identity(of: id) }

  /// The same of an id alone.
  static func identity(of id: ID) -> String {
    let address = id.prefix { $0 != "/" }
    // Most ids that are none end here, and campaigns compare them by the million.
    guard address.utf8.count == 17 else { return id }
    let bytes = address.split(separator: ":", omittingEmptySubsequences: false)
    let isAddress =
      bytes.count == 6 && bytes.allSatisfy { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
    return isAddress ? bytes.joined(separator: ":").uppercased() : id
  }

  /// The same, known by another id.
  func identified(by id: ID) -> FleetDevice {
    FleetDevice(
      id: id, name: name, board: board, site: site, tags: tags, keyFile: keyFile,
      version: version, rssi: rssi)
  }
}
