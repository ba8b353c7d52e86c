#if Fleet
import GRDB
import OtaflashFirmware
import OtaflashFleet

/// What is remembered of one device.
package struct DeviceRow: Hashable, Sendable {
  /// The last attempt to flash it that came to the device.
  package struct Flashing: Hashable, Sendable {
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
      /// The image was sent, and seen running.
      case flashed
      /// It ran the image already; nothing was sent.
      case alreadyCurrent = "already-current"
      /// The link was lost or the run stopped; the device may hold a part of the image.
      case interrupted
      case failed
    }

    package var outcome: Outcome
    /// The image's, where it was known.
    package var version: FirmwareVersion?
    package var at: FleetTime

    package init(outcome: Outcome, version: FirmwareVersion?, at: FleetTime) {
      self.outcome = outcome
      self.version = version
      self.at = at
    }
  }

  /// What the user writes for it, and unique.
  package let id: FleetDevice.ID
  /// The name that it advertised last; before it was heard, what a campaign calls it.
  package var name: String?
  /// Its Bluetooth address, where it has one.
  package var address: String?
  /// `nil` = it is known from a campaign alone.
  package var lastSeen: FleetTime?
  package var lastConnected: FleetTime?
  package var lastFlashing: Flashing?
  /// What it ran when it last said so.
  package private(set) var version: FirmwareVersion?
  package private(set) var versionRead: FleetTime?
  /// As a campaign has them, the last that said something.
  package var board: String?
  package var site: String?
  package var tags: Set<String> = []

  package init(id: FleetDevice.ID) { self.id = id }

  /// - Parameter moment: when the device reported the version.
  package mutating func setVersion(_ version: FirmwareVersion?, at moment: FleetTime) {
    self.version = version
    versionRead = version.map { _ in moment }
  }

  init(_ row: Row) throws {
    id = row["id"]
    name = row["name"]
    address = row["address"]
    lastSeen = try row.optionalTime("seen")
    lastConnected = try row.optionalTime("connected")
    if let text: String = row["outcome"], let at = try row.optionalTime("flashed") {
      guard let outcome = Flashing.Outcome(rawValue: text) else {
        throw StorageFault(.damaged, "'\(text)' is no outcome of \(id)")
      }
      lastFlashing = Flashing(outcome: outcome, version: try row.version("image"), at: at)
    }
    version = try row.version("version")
    // Another process may not have brought the store to this version yet.
    versionRead = row.hasColumn("version_at") ? try row.optionalTime("version_at") : lastConnected
    board = row["board"]
    site = row["site"]
    let tags: String? = row["tags"]
    self.tags = Set(try tags.map { try StoredValue.value([String].self, $0) } ?? [])
  }
}

extension Row {
  fileprivate func version(_ column: String) throws -> FirmwareVersion? {
    guard let text: String = self[column] else { return nil }
    guard let version = FirmwareVersion(text) else {
      throw StorageFault(.damaged, "'\(text)' is no version")
    }
    return version
  }
}
#endif
