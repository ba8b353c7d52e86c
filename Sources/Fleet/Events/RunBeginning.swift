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
  /// Octets that a device stores.
  package var size: Int?

  package init(digest: String, name: String, version: String? = nil, size: Int? = nil) {
    self.digest = digest
    self.name = name
    self.version = version
    self.size = size
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
