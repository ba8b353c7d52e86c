import OtaflashFirmware

/// A device of a campaign, as listed in the campaign. Unspecified values are `nil`.
public struct FleetDevice: Hashable, Sendable {
  /// The id of a device in a campaign and on the command line: `C0:FF:EE:00:00:01`,
  /// `unix:/path`, `sim:PROFILE`. Unique in a campaign.
  public typealias ID = String

  /// The id.
  public let id: ID
  /// A name, unique in a campaign.
  public var name: String?
  /// The kind of board, which selects the image.
  public var board: String?
  /// The site of the device: only adapters of this site can reach it. `nil` = any site.
  public var site: String?
  /// The words by which a campaign selects devices.
  public var tags: Set<String>
  /// The file that contains the key of the device.
  public var keyFile: String?
  /// The last known running version.
  public var version: FirmwareVersion?
  /// The RSSI of the device's advertisements in dBm, −127…20.
  public var rssi: Int?

  /// Creates a device; unspecified values are `nil`.
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

  /// The id in a canonical form, equal for every spelling of an address: in upper case, and without
  /// the address type, because no two devices differ only in the type.
  package var identity: String { Self.identity(of: id) }

  /// Returns the canonical form of an id.
  static func identity(of id: ID) -> String {
    let address = id.prefix { $0 != "/" }
    // Most ids that are not addresses are excluded here; campaigns compare millions of ids.
    guard address.utf8.count == 17 else { return id }
    let bytes = address.split(separator: ":", omittingEmptySubsequences: false)
    let isAddress =
      bytes.count == 6 && bytes.allSatisfy { $0.count == 2 && $0.allSatisfy(\.isHexDigit) }
    return isAddress ? bytes.joined(separator: ":").uppercased() : id
  }

  /// Returns a copy of the device with another id.
  func identified(by id: ID) -> FleetDevice {
    FleetDevice(
      id: id, name: name, board: board, site: site, tags: tags, keyFile: keyFile,
      version: version, rssi: rssi)
  }
}
