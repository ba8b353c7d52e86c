#if Fleet
import GRDB
import OtaflashFleet

/// The events of runs about one device.
extension FleetStore {
  /// Returns the events about one device, with the start and end of each run, the last run first.
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

  /// Returns the events of a run about a device; empty if the device is not part of the run. The
  /// stored texts are searched first, because few events are about one device.
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

  // MARK: The former list of devices

  /// Returns whether the store still has the table of devices that former versions used. Its rows
  /// were derived from the events of the runs. The registry of devices imports the devices once,
  /// from these events.
  package func hasFormerDevices() throws(StorageFault) -> Bool {
    try read { try $0.tableExists("device") }
  }

  /// Drops the table. The caller has imported the devices to the registry.
  package func dropFormerDevices() throws(StorageFault) {
    try write { try StoreSchema.dropDevices(in: $0) }
  }
}
#endif
