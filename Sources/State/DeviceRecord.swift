import OtaflashFirmware

/// The record of one device.
public struct DeviceRecord: Equatable, Sendable {
  /// The last attempt to flash the device.
  public struct Flashing: Equatable, Sendable {
    /// The outcome of an attempt.
    public enum Outcome: String, Codable, Sendable, CaseIterable {
      /// The image was sent and verified.
      case flashed
      /// The device already ran the image; nothing was sent.
      case alreadyCurrent = "already-current"
      /// The link was lost or the run was stopped; the device holds a part of the image.
      case interrupted
      /// The attempt failed, and the transfer cannot be resumed.
      case failed
    }

    /// The outcome of the attempt.
    public var outcome: Outcome
    /// The version of the image, if known.
    public var version: FirmwareVersion?
    /// The end of the attempt, in seconds since 1970.
    public var at: Double
    var others = KeptMembers()

    /// Creates the record of an attempt that ended at `at`, in seconds since 1970.
    public init(outcome: Outcome, version: FirmwareVersion?, at: Double) {
      self.outcome = outcome
      self.version = version
      self.at = at
    }
  }

  /// The version that the device reported last.
  public struct Running: Equatable, Sendable {
    /// The version of the first image of the device.
    public var version: FirmwareVersion
    /// The time at which the device reported the version, in seconds since 1970.
    public var at: Double
    var others = KeptMembers()

    /// Creates a version that was read at `at`, in seconds since 1970.
    public init(version: FirmwareVersion, at: Double) {
      self.version = version
      self.at = at
    }
  }

  /// The unique id in the form of the argument DEVICE: `C0:FF:EE:00:00:01`, `unix:/run/door`,
  /// `sim:`.
  public let id: String
  /// The last advertised name; `nil` = no name was received.
  public var name: String?
  /// The Bluetooth address; `nil` = no address, as for a Unix socket.
  public var address: String?
  /// The time at which the device was last seen, in seconds since 1970 like all times of a record.
  public var lastSeen: Double
  /// The time of the last connection; `nil` = never connected.
  public var lastConnected: Double?
  /// The time when the user last chose the device in the live table; `nil` = never.
  package var lastChosen: Double?
  /// The last attempt from this host; `nil` = no attempt.
  public var lastFlashing: Flashing?
  /// The last reported version; `nil` = no version was read.
  public var running: Running?
  /// The board in the last campaign of the device. The site and the tags also come from this
  /// campaign.
  package var board: String?
  package var site: String?
  /// The tags, sorted; `nil` = no tags.
  package var tags: [String]?
  var others = KeptMembers()

  /// Creates the record of a device that was seen, but was never connected.
  public init(id: String, lastSeen: Double) {
    self.id = id
    self.lastSeen = lastSeen
  }

  var isSound: Bool {
    [lastSeen, lastConnected, lastChosen, lastFlashing?.at, running?.at].compactMap(\.self)
      .allSatisfy(
        KeptTime.isSound)
  }
}

/// Stored times, in seconds since 1970.
enum KeptTime {
  /// The range of times. It ends with the year 9999, the last year in RFC 3339.
  private static let range = 0.0..<253_402_300_800

  static func isSound(_ seconds: Double) -> Bool { range.contains(seconds) }

  /// Returns the nearest time in the range, because the file must be readable even if the clock was
  /// wrong.
  static func nearest(_ seconds: Double) -> Double {
    seconds.isNaN ? 0 : min(max(seconds, range.lowerBound), range.upperBound - 1)
  }
}

extension DeviceRecord: Codable {
  private enum CodingKeys: CodingKey, CaseIterable {
    case id, name, address, lastSeen, lastConnected, lastChosen, lastFlashing, running
    case board, site, tags
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    name = try container.decodeIfPresent(String.self, forKey: .name)
    address = try container.decodeIfPresent(String.self, forKey: .address)
    lastSeen = try container.decode(Double.self, forKey: .lastSeen)
    lastConnected = try container.decodeIfPresent(Double.self, forKey: .lastConnected)
    lastChosen = try container.decodeIfPresent(Double.self, forKey: .lastChosen)
    lastFlashing = try container.decodeIfPresent(Flashing.self, forKey: .lastFlashing)
    running = try container.decodeIfPresent(Running.self, forKey: .running)
    board = try container.decodeIfPresent(String.self, forKey: .board)
    site = try container.decodeIfPresent(String.self, forKey: .site)
    tags = try container.decodeIfPresent([String].self, forKey: .tags)
    others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
  }

  public func encode(to encoder: any Encoder) throws {
    try others.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(address, forKey: .address)
    try container.encode(KeptTime.nearest(lastSeen), forKey: .lastSeen)
    try container.encodeIfPresent(lastConnected.map(KeptTime.nearest), forKey: .lastConnected)
    try container.encodeIfPresent(lastChosen.map(KeptTime.nearest), forKey: .lastChosen)
    try container.encodeIfPresent(lastFlashing, forKey: .lastFlashing)
    try container.encodeIfPresent(running, forKey: .running)
    try container.encodeIfPresent(board, forKey: .board)
    try container.encodeIfPresent(site, forKey: .site)
    try container.encodeIfPresent(tags, forKey: .tags)
  }
}

extension DeviceRecord.Flashing: Codable {
  private enum CodingKeys: CodingKey, CaseIterable { case outcome, version, at }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    outcome = try container.decode(Outcome.self, forKey: .outcome)
    version = try container.decodeIfPresent(FirmwareVersion.self, forKey: .version)
    at = try container.decode(Double.self, forKey: .at)
    others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
  }

  public func encode(to encoder: any Encoder) throws {
    try others.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(outcome, forKey: .outcome)
    try container.encodeIfPresent(version, forKey: .version)
    try container.encode(KeptTime.nearest(at), forKey: .at)
  }
}

extension DeviceRecord.Running: Codable {
  private enum CodingKeys: CodingKey, CaseIterable { case version, at }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    version = try container.decode(FirmwareVersion.self, forKey: .version)
    at = try container.decode(Double.self, forKey: .at)
    others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
  }

  public func encode(to encoder: any Encoder) throws {
    try others.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(version, forKey: .version)
    try container.encode(KeptTime.nearest(at), forKey: .at)
  }
}

extension DeviceRecord {
  /// The last version that was read or flashed. The flashed version is considered because records
  /// of earlier versions of otaflash contain no version that was read.
  package var lastVersion: Running? {
    var known = running
    if let flashing = lastFlashing, let version = flashing.version {
      switch flashing.outcome {
      case .flashed, .alreadyCurrent:
        if flashing.at > known?.at ?? -.infinity {
          known = Running(version: version, at: flashing.at)
        }
      case .interrupted, .failed: break
      }
    }
    return known
  }

  /// Returns this record merged with another record of the same device. Fields with a time keep the
  /// later value; for all other fields, the value of the record that was seen last is used. A
  /// missing value does not replace a value.
  package func merged(with other: DeviceRecord) -> DeviceRecord {
    let (older, newer) = lastSeen <= other.lastSeen ? (self, other) : (other, self)
    var merged = self
    merged.name = newer.name ?? older.name
    merged.address = newer.address ?? older.address
    merged.lastSeen = newer.lastSeen
    merged.lastConnected = Self.later(lastConnected, other.lastConnected) { $0 }
    merged.lastChosen = Self.later(lastChosen, other.lastChosen) { $0 }
    merged.lastFlashing = Self.later(lastFlashing, other.lastFlashing, by: \.at)
    merged.running = Self.later(lastVersion, other.lastVersion, by: \.at)
    merged.board = newer.board ?? older.board
    merged.site = newer.site ?? older.site
    merged.tags = newer.tags ?? older.tags
    return merged
  }

  private static func later<Value>(
    _ first: Value?, _ second: Value?, by time: (Value) -> Double
  ) -> Value? {
    guard let first, let second else { return first ?? second }
    return time(first) >= time(second) ? first : second
  }
}
