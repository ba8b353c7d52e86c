import OtaflashFirmware

/// What is remembered of one device.
public struct DeviceRecord: Equatable, Sendable {
  /// The last attempt to flash it.
  public struct Flashing: Equatable, Sendable {
    /// How it ended.
    public enum Outcome: String, Codable, Sendable, CaseIterable {
      /// The image was sent, and seen running.
      case flashed
      /// The device ran the image already; nothing was sent.
      case alreadyCurrent = "already-current"
      /// The link was lost or the run stopped; the device holds a part of the image.
      case interrupted
      /// It ended otherwise; the device holds nothing that a later run goes on with.
      case failed
    }

    /// How the attempt ended.
    public var outcome: Outcome
    /// The image's version, when it was known.
    public var version: FirmwareVersion?
    /// Seconds since 1970.
    public var at: Double
    var others = KeptMembers()

    /// An attempt that ended `at` so many seconds after 1970 began.
    public init(outcome: Outcome, version: FirmwareVersion?, at: Double) {
      self.outcome = outcome
      self.version = version
      self.at = at
    }
  }

  /// What the user writes for DEVICE, and unique: `C0:FF:EE:00:00:01`, `unix:/run/door`, `sim:`.
  public let id: String
  /// The name that it advertised last; `nil` where it was never heard to.
  public var name: String?
  /// Its Bluetooth address; `nil` for what has none, such as a Unix socket.
  public var address: String?
  /// Seconds since 1970, as all times here.
  public var lastSeen: Double
  /// In seconds since 1970; `nil` when it was seen only.
  public var lastConnected: Double?
  /// When a person chose it among others; `nil` when nobody did.
  package var lastChosen: Double?
  /// `nil` when nobody tried from here.
  public var lastFlashing: Flashing?
  var others = KeptMembers()

  /// A device that was seen, and not connected to.
  public init(id: String, lastSeen: Double) {
    self.id = id
    self.lastSeen = lastSeen
  }

  var isSound: Bool {
    [lastSeen, lastConnected, lastChosen, lastFlashing?.at].compactMap(\.self).allSatisfy(
      KeptTime.isSound)
  }
}

/// Times in files of ours, in seconds since 1970.
enum KeptTime {
  /// To the end of the year 9999, the last that RFC 3339 can write.
  private static let range = 0.0..<253_402_300_800

  static func isSound(_ seconds: Double) -> Bool { range.contains(seconds) }
}

extension DeviceRecord: Codable {
  private enum CodingKeys: CodingKey, CaseIterable {
    case id, name, address, lastSeen, lastConnected, lastChosen, lastFlashing
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
    others = try KeptMembers(in: decoder, besides: CodingKeys.allCases)
  }

  public func encode(to encoder: any Encoder) throws {
    try others.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(address, forKey: .address)
    try container.encode(lastSeen, forKey: .lastSeen)
    try container.encodeIfPresent(lastConnected, forKey: .lastConnected)
    try container.encodeIfPresent(lastChosen, forKey: .lastChosen)
    try container.encodeIfPresent(lastFlashing, forKey: .lastFlashing)
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
    try container.encode(at, forKey: .at)
  }
}
