/// Who began what. What is optional was not recorded by the first versions.
package struct RunBeginning: Hashable, Sendable, Codable {
  /// Of the run: short, unique in a store.
  package var id: String
  package var campaign: String
  /// Of the campaign file and the images: a run goes on only with the same.
  package var digest: String
  package var devices: Int
  package var waves: Int
  /// The person and machine, such as `anna@line-3`.
  package var startedBy: String?
  package var images: [RunImage]?
  /// What decides about each wave, in their order.
  package var waveRules: [WaveRule]?
  /// The absolute path of the campaign's file: what to pass to `fleet run` again.
  package var file: String?
  /// The run that was started before it; `nil` = none. The store fills it in.
  package var former: FormerRun?
  /// When transfers may start.
  package var windows: TransferWindows?
  /// The files that the campaign consists of.
  package var files: [RunFile]?
  /// Its options, as `fleet plan` prints them.
  package var settings: [RunSetting]?

  package init(
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
package struct RunImage: Hashable, Sendable, Codable {
  /// The digest by which devices name it.
  package var digest: String
  /// Of its file, without the folder.
  package var name: String
  /// As the file says it.
  package var version: String?
  /// Bytes that a device stores.
  package var size: Int?
  /// SHA-256 of the file, in hex digits, as `sha256sum` prints it.
  package var sha256: String?

  package init(
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
package struct RunFile: Hashable, Sendable, Codable {
  package enum Role: String, Hashable, Sendable, Codable, CaseIterable {
    case campaign, devices
    /// The public key that images must be signed by.
    case key
    /// The key of devices: a secret.
    case deviceKey = "device-key"
    /// The program of a hook, where the campaign gives its path.
    case hook
  }

  package let role: Role
  /// As the campaign names it.
  package let name: String
  /// SHA-256 of the file in hex digits; `nil` = a secret, which a hash could help to guess, or a
  /// file that cannot be read.
  package let sha256: String?

  package init(_ role: Role, name: String, sha256: String? = nil) {
    self.role = role
    self.name = name
    self.sha256 = sha256
  }
}

/// An option of a campaign, in words.
package struct RunSetting: Hashable, Sendable, Codable {
  package let name: String
  package let words: String

  package init(_ name: String, _ words: String) { (self.name, self.words) = (name, words) }

  /// The settings that differ, sorted by name, such as `parallel: 4 (run: 3)`.
  ///
  /// - Parameter origin: what the former settings belong to, such as `run` or `plan`.
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
package struct WaveRule: Hashable, Sendable, Codable {
  package var thresholds: WaveThresholds
  package var soakMilliseconds: Int64
  package var needsApproval: Bool

  package init(_ wave: Wave) {
    thresholds = wave.thresholds
    soakMilliseconds = wave.soak.wholeMilliseconds
    needsApproval = wave.needsApproval
  }
}
