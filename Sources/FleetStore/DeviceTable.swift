#if Fleet
import GRDB
import OtaflashFleet

/// The table of devices, changed so that the order of the changes does not matter: what happened
/// later wins, and what nobody said stays.
enum DeviceTable {
  /// Puts together what is there and what is new.
  static func merge(_ row: DeviceRow, in database: Database) throws {
    let tags = row.tags.isEmpty ? nil : try StoredValue.text(row.tags.sorted())
    // Kept by the connection: a plan puts ten thousand devices here.
    try database.cachedStatement(sql: merging).execute(
      arguments: [
        row.id, row.name, row.address, row.lastSeen?.milliseconds, row.lastConnected?.milliseconds,
        row.lastFlashing?.outcome.rawValue, row.lastFlashing?.version?.description,
        row.lastFlashing?.at.milliseconds, row.version?.description, row.board, row.site, tags,
        row.versionRead?.milliseconds,
      ])
  }

  private static let merging = """
    INSERT INTO device VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET
      name = CASE WHEN excluded.seen IS NOT NULL OR name IS NULL
        THEN coalesce(excluded.name, name) ELSE name END,
      address = coalesce(excluded.address, address),
      outcome = CASE WHEN \(isLater) THEN excluded.outcome ELSE outcome END,
      image = CASE WHEN \(isLater) THEN excluded.image ELSE image END,
      version = CASE WHEN \(isVersionLater) THEN excluded.version ELSE version END,
      version_at = CASE WHEN \(isVersionLater) THEN excluded.version_at ELSE version_at END,
      flashed = \(later("flashed")), seen = \(later("seen")), connected = \(later("connected")),
      board = coalesce(excluded.board, board), site = coalesce(excluded.site, site),
      tags = coalesce(excluded.tags, tags)
    """

  /// In an update SQLite reads all columns as they were before it (sqlite.org/lang_update.html).
  private static let isLater =
    "excluded.flashed IS NOT NULL AND excluded.flashed >= coalesce(flashed, 0)"

  private static let isVersionLater =
    "excluded.version IS NOT NULL AND coalesce(excluded.version_at, 0) >= coalesce(version_at, 0)"

  private static func later(_ column: String) -> String {
    """
    CASE WHEN excluded.\(column) IS NULL OR excluded.\(column) < \(column) THEN \(column) \
    ELSE excluded.\(column) END
    """
  }

  // MARK: From events

  /// What an event of a run says of its devices.
  static func fold(_ event: FleetEvent, at moment: FleetTime, in database: Database) throws {
    switch event {
    case .wavePlanned(_, _, let devices):
      for device in devices { try merge(DeviceRow(device), in: database) }
    case .attemptEnded(let id, _, let ending):
      if let row = DeviceRow(id, ending, at: moment) { try merge(row, in: database) }
    case .deviceSettled(let id, .updated): try noteUpdated(id, at: moment, in: database)
    default: break
    }
  }

  /// A device whose update was interrupted after the activation runs the image already when it is
  /// asked again. The run knows that the run itself updated it.
  private static func noteUpdated(
    _ id: FleetDevice.ID, at moment: FleetTime, in database: Database
  ) throws {
    try database.cachedStatement(
      sql: "UPDATE device SET outcome = ? WHERE id = ? AND outcome = ? AND flashed <= ?"
    ).execute(
      arguments: [
        DeviceRow.Flashing.Outcome.flashed.rawValue, id,
        DeviceRow.Flashing.Outcome.alreadyCurrent.rawValue, moment.milliseconds,
      ])
  }

  /// From all events that there are, in the order of their time.
  static func foldHistory(in database: Database) throws {
    let events = try Row.fetchCursor(
      database, sql: "SELECT at, payload FROM event ORDER BY at, run, number")
    while let row = try events.next() {
      try fold(
        try StoredValue.value(FleetEvent.self, row["payload"]),
        at: try row.time("at"), in: database)
    }
  }
}

extension DeviceRow {
  /// What the campaign's owner says of a device: nobody has seen it for that.
  fileprivate init(_ device: RunDevice) {
    self.init(id: device.id)
    name = device.name
    board = device.board
    site = device.site
    tags = Set(device.tags ?? [])
  }

  /// `nil` where the attempt did not come to the device.
  fileprivate init?(_ id: FleetDevice.ID, _ ending: AttemptEnding, at moment: FleetTime) {
    self.init(id: id)
    switch ending {
    case .updated(let figures):
      lastFlashing = Flashing(outcome: .flashed, version: figures.to, at: moment)
      setVersion(figures.to, at: moment)
    case .current(let running):
      lastFlashing = Flashing(outcome: .alreadyCurrent, version: running, at: moment)
      setVersion(running, at: moment)
    case .failed(let failure):
      guard failure.wasSeen else { return nil }
      switch failure.kind {
      case .device: lastFlashing = Flashing(outcome: .failed, version: nil, at: moment)
      case .link: lastFlashing = Flashing(outcome: .interrupted, version: nil, at: moment)
      case .infrastructure: return nil
      }
    case .skipped, .returned: return nil
    }
    lastSeen = moment
    lastConnected = moment
  }
}
#endif
