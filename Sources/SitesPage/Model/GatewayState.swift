#if Sites
import OtaflashFleet

/// The last report of a gateway.
package struct GatewayState: Hashable, Sendable {
  package var site: String
  /// The name of the gateway, unique in its site.
  package var name: String
  /// The version of otaflash on the gateway.
  package var version: String
  /// The adapters that are on, such as `hci0`.
  package var adapters: [String]
  package var lastReport: WallClockTime
  /// Whether the last report is recent enough for a running gateway.
  package var isRunning: Bool
  /// The jobs that the gateway has claimed.
  package var jobs: [UpdateJob.ID]

  package init(
    site: String, name: String, version: String, adapters: [String], lastReport: WallClockTime,
    isRunning: Bool, jobs: [UpdateJob.ID] = []
  ) {
    self.site = site
    self.name = name
    self.version = version
    self.adapters = adapters
    self.lastReport = lastReport
    self.isRunning = isRunning
    self.jobs = jobs
  }
}

/// A campaign as a user submitted it.
package struct CampaignSubmission: Sendable {
  /// A file of the campaign: an image, a table of devices, a key.
  package struct File: Hashable, Sendable {
    /// The name of the file as in the campaign, without a folder.
    package let name: String
    package let bytes: [UInt8]

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }
  }

  /// The text of the campaign file (YAML).
  package let text: String
  /// The name of the campaign file.
  package let name: String
  package let files: [File]
  /// The account of the user.
  package let by: String

  package init(text: String, name: String, files: [File], by: String) {
    self.text = text
    self.name = name
    self.files = files
    self.by = by
  }
}
#endif
