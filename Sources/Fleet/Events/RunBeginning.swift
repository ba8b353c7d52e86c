/// Who began what. What is optional was not recorded by the first versions.
public struct RunBeginning: Hashable, Sendable, Codable {
  /// Of the run: short, unique in a store.
  public var id: String
  public var campaign: String
  /// Of the campaign file and the images: a run goes on only with the same.
  public var digest: String
  public var devices: Int
  public var waves: Int
  /// The person and machine, such as `anna@line-3`.
  public var startedBy: String?
  public var images: [RunImage]?
  /// What decides about each wave, in their order.
  public var waveRules: [WaveRule]?
  /// The absolute path of the campaign's file: what to pass to `fleet run` again.
  public var file: String?
  /// The run that was started before it; `nil` = none. The store fills it in.
  public var former: FormerRun?
  /// When transfers may start.
  package var windows: TransferWindows?
  /// The files that the campaign consists of.
  public var files: [RunFile]?
  /// Its options, as `fleet plan` prints them.
  public var settings: [RunSetting]?

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

/// An image of a run, as people know it.
public struct RunImage: Hashable, Sendable, Codable {
  /// The digest by which devices name it.
  public var digest: String
  /// Of its file, without the folder.
  public var name: String
  /// As the file says it.
  public var version: String?
  /// Bytes that a device stores.
  public var size: Int?
  /// SHA-256 of the file, in hex digits, as `sha256sum` prints it.
  public var sha256: String?

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
  public enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    case campaign, devices
    /// The public key that images must be signed by.
    case key
    /// The key of devices: a secret.
    case deviceKey = "device-key"
    /// The program of a hook, where the campaign gives its path.
    case hook
  }

  public let role: Role
  /// As the campaign names it.
  public let name: String
  /// SHA-256 of the file in hex digits; `nil` = a secret, which a hash could help to guess, or a
  /// file that cannot be read.
  public let sha256: String?

  public init(_ role: Role, name: String, sha256: String? = nil) {
    self.role = role
    self.name = name
    self.sha256 = sha256
  }
}

/// An option of a campaign, in words.
public struct RunSetting: Hashable, Sendable, Codable {
  public let name: String
  public let words: String

  public init(_ name: String, _ words: String) { (self.name, self.words) = (name, words) }

  /// The settings that differ, sorted by name, such as `parallel: 4 (run: 3)`.
  ///
  /// - Parameter origin: the owner of the former settings, such as `run` or `plan`.
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

/// What decides whether a wave is followed by the next.
public struct WaveRule: Hashable, Sendable, Codable {
  public var thresholds: WaveThresholds
  public var soakMilliseconds: Int64
  public var needsApproval: Bool

  public init(_ wave: Wave) {
    thresholds = wave.thresholds
    soakMilliseconds = wave.soak.wholeMilliseconds
    needsApproval = wave.needsApproval
  }
}
