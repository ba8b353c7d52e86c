#if Fleet
import GRDB
import OtaflashFleet

/// What was heard of a device at a moment; what it did not tell is `nil`.
package struct DeviceSighting: Hashable, Sendable {
  package let id: FleetDevice.ID
  package var name: String?
  package var address: String?
  package let at: FleetTime

  package init(_ id: FleetDevice.ID, name: String?, address: String?, at moment: FleetTime) {
    self.id = id
    self.name = name
    self.address = address
    at = moment
  }
}

/// The devices that were seen, connected to and flashed from here, without a limit. What becomes of
/// them in runs is noted with the runs' events.
extension FleetStore {
  /// Notes advertisements, in one commit.
  package func seen(_ sightings: [DeviceSighting]) throws(StorageFault) {
    guard !sightings.isEmpty else { return }
    try write { database in
      for sighting in sightings { try DeviceTable.merge(DeviceRow(sighting), in: database) }
    }
  }

  package func connected(_ sighting: DeviceSighting) throws(StorageFault) {
    var row = DeviceRow(sighting)
    row.lastConnected = sighting.at
    let connected = row
    try write { try DeviceTable.merge(connected, in: $0) }
  }

  /// Notes how an update of a device that was connected to ended.
  package func flashed(
    _ id: FleetDevice.ID, _ flashing: DeviceRow.Flashing
  ) throws(StorageFault) {
    var row = DeviceRow(id: id)
    row.lastSeen = flashing.at
    row.lastConnected = flashing.at
    row.lastFlashing = flashing
    switch flashing.outcome {
    case .flashed, .alreadyCurrent: row.setVersion(flashing.version, at: flashing.at)
    case .interrupted, .failed: break
    }
    let flashed = row
    try write { try DeviceTable.merge(flashed, in: $0) }
  }

  /// The devices that were seen: last connected first, then last seen.
  ///
  /// - Parameter limit: no more than that; `nil` = all.
  package func devices(limit: Int? = nil) throws(StorageFault) -> [DeviceRow] {
    try read { database in
      guard try database.tableExists("device") else { return [] }
      return try Row.fetchAll(
        database,
        sql: """
          SELECT * FROM device WHERE seen IS NOT NULL
          ORDER BY connected IS NULL, connected DESC, seen DESC, id LIMIT ?
          """, arguments: [limit ?? -1]
      ).map { try DeviceRow($0) }
    }
  }

  /// One device, also one that is known from a campaign alone.
  package func device(_ id: FleetDevice.ID) throws(StorageFault) -> DeviceRow? {
    try read { database in
      guard try database.tableExists("device") else { return nil }
      return try Row.fetchOne(database, sql: "SELECT * FROM device WHERE id = ?", arguments: [id])
        .map { try DeviceRow($0) }
    }
  }

  /// The events about one device, with those that start and end a run, by run; the last run first.
  package func history(
    ofDevice id: FleetDevice.ID
  ) throws(StorageFault) -> [(run: KeptRun, events: [RecordedEvent])] {
    var history: [(run: KeptRun, events: [RecordedEvent])] = []
    for run in try runs() {
      let events = try events(of: run.id, about: id)
      if !events.isEmpty { history.append((run, events)) }
    }
    return history
  }

  /// Searches the stored texts first, because few events of a run are about one device. Empty if
  /// the device is not part of the run.
  private func events(
    of run: String, about id: FleetDevice.ID
  ) throws(StorageFault) -> [RecordedEvent] {
    try read { database in
      let events = try Row.fetchAll(
        database,
        sql: """
          SELECT number, at, payload FROM event
          WHERE run = ? AND (instr(payload, ?) > 0 OR instr(payload, '"runBegan"') = 2
            OR instr(payload, '"runEnded"') = 2)
          ORDER BY number
          """, arguments: [run, try StoredValue.text(id)]
      ).map { row in
        RecordedEvent(
          number: try row.count("number"), at: try row.time("at"),
          event: try StoredValue.value(FleetEvent.self, row["payload"]))
      }
      let isPart = events.contains { recorded in
        guard case .wavePlanned(_, _, let devices) = recorded.event else { return false }
        return devices.contains { $0.id == id }
      }
      return isPart ? events : []
    }
  }

  /// Forgets a device; one that is not known is none the less forgotten. Runs remember it.
  package func forget(_ id: FleetDevice.ID) throws(StorageFault) {
    try write { try $0.execute(sql: "DELETE FROM device WHERE id = ?", arguments: [id]) }
  }

  // MARK: The former list

  private static let takenOver = "devices.json"

  /// Whether the list of devices that was kept before there was a store is in it.
  package func hasTakenOver() throws(StorageFault) -> Bool {
    try read { database in
      guard try database.tableExists("taken_over") else { return false }
      return try Self.hasTakenOver(in: database)
    }
  }

  /// Takes over the devices of the former list, once: another time nothing is changed.
  ///
  /// - Returns: whether this was the time.
  @discardableResult
  package func takeOver(_ devices: [DeviceRow]) throws(StorageFault) -> Bool {
    try write { database in
      guard try !Self.hasTakenOver(in: database) else { return false }
      for device in devices { try DeviceTable.merge(device, in: database) }
      try database.execute(
        sql: "INSERT INTO taken_over VALUES (?)", arguments: [Self.takenOver])
      return true
    }
  }

  private static func hasTakenOver(in database: Database) throws -> Bool {
    try Row.fetchOne(
      database, sql: "SELECT 1 FROM taken_over WHERE name = ?", arguments: [takenOver]) != nil
  }
}

extension DeviceRow {
  fileprivate init(_ sighting: DeviceSighting) {
    self.init(id: sighting.id)
    name = sighting.name
    address = sighting.address
    lastSeen = sighting.at
  }
}
#endif
