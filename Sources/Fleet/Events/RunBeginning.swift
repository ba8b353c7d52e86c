/// The start of a run. The first versions of otaflash did not record the optional values.
public struct RunBeginning: Hashable, Sendable, Codable {
  /// The id of the run, short and unique in a store.
  public var id: String
  /// The name of the campaign.
  public var campaign: String
  /// The digest of the campaign file, its device table and the devices of its aliases. A run
  /// continues only with the same digest.
  public var digest: String
  /// The number of devices.
  public var devices: Int
  /// The number of waves.
  public var waves: Int
  /// The operator and host, such as `anna@line-3`.
  public var startedBy: String?
  /// The images.
  public var images: [RunImage]?
  /// The rules of the waves, in order.
  public var waveRules: [WaveRule]?
  /// The absolute path of the campaign file, for the next `fleet run`.
  public var file: String?
  /// The previous run; `nil` = this is the first run. The store sets the value.
  public var former: FormerRun?
  /// The times in which transfers may start.
  package var windows: TransferWindows?
  /// The files of the campaign, except images.
  public var files: [RunFile]?
  /// The options of the campaign, as `fleet plan` prints them.
  public var settings: [RunSetting]?

  /// Creates the start of a run without files and settings.
  public init(
    id: String, campaign: String, digest: String, devices: Int, waves: Int,
    startedBy: String? = nil, images: [RunImage]? = nil, waveRules: [WaveRule]? = nil
  ) {
    self.id = id
    self.campaign = campaign
    self.digest = digest
    self.devices = devices
    self.waves = waves
    self.startedBy = startedBy
    self.images = images
    self.waveRules = waveRules
  }
}

/// An image of a run, with its name and version.
public struct RunImage: Hashable, Sendable, Codable {
  /// The digest that devices of the run refer to.
  public var digest: String
  /// The name of the image file, without the folder.
  public var name: String
  /// The version in the file.
  public var version: String?
  /// The number of bytes that a device stores.
  public var size: Int?
  /// SHA-256 of the file, in hex digits, as `sha256sum` prints it.
  public var sha256: String?

  /// Creates the record of an image.
  public init(
    digest: String, name: String, version: String? = nil, size: Int? = nil, sha256: String? = nil
  ) {
    self.digest = digest
    self.name = name
    self.version = version
    self.size = size
    self.sha256 = sha256
  }
}

/// A file of a campaign other than an image.
public struct RunFile: Hashable, Sendable, Codable {
  /// The purpose of a file.
  public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    /// The campaign file.
    case campaign
    /// The device table.
    case devices
    /// The public key that verifies the signatures of images.
    case key
    /// The secret key of devices.
    case deviceKey = "device-key"
    /// The program of a hook, if the campaign specifies its path.
    case hook
  }

  /// The purpose of the file.
  public let role: Role
  /// The name in the campaign.
  public let name: String
  /// SHA-256 of the file in hex digits; `nil` = the file is unreadable, or contains a secret that a
  /// hash could help to guess.
  public let sha256: String?

  /// Creates the record of a file.
  public init(_ role: Role, name: String, sha256: String? = nil) {
    self.role = role
    self.name = name
    self.sha256 = sha256
  }
}

/// An option of a campaign, as text.
public struct RunSetting: Hashable, Sendable, Codable {
  /// The name of the option.
  public let name: String
  /// The value as text.
  public let words: String

  /// Creates the record of an option.
  public init(_ name: String, _ words: String) { (self.name, self.words) = (name, words) }

  /// Returns the settings that differ, sorted by name, such as `parallel: 4 (run: 3)`.
  ///
  /// - Parameter origin: the source of the former settings, such as `run` or `plan`.
  package static func differences(
    from former: [RunSetting], to current: [RunSetting], origin: String
  ) -> [String] {
    let old = Dictionary(former.map { ($0.name, $0.words) }) { first, _ in first }
    let new = Dictionary(current.map { ($0.name, $0.words) }) { first, _ in first }
    return Set(old.keys).union(new.keys).sorted().compactMap { name in
      let (before, after) = (old[name], new[name])
      guard before != after else { return nil }
      return "\(name): \(after ?? "none") (\(origin): \(before ?? "none"))"
    }
  }
}

/// The rule that determines whether the next wave starts.
public struct WaveRule: Hashable, Sendable, Codable {
  /// The thresholds of the verdict.
  public var thresholds: WaveThresholds
  /// The soak time in milliseconds.
  public var soakMilliseconds: Int64
  /// Whether the next wave requires an operator's approval.
  public var needsApproval: Bool

  /// Creates the rule of a wave.
  public init(_ wave: Wave) {
    thresholds = wave.thresholds
    soakMilliseconds = wave.soak.wholeMilliseconds
    needsApproval = wave.needsApproval
  }
}
