#if Fleet
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState

/// The known devices, from commands for one device and from campaigns.
package struct KnownDevices: Sendable {
  private let session: Session

  package init(_ session: Session) { self.session = session }

  /// Returns the devices by the time of the last connection, newest first, and then by the time of
  /// the last advertisement.
  package func all() throws(CommandFault) -> [DeviceRecord] {
    let listed = try StateStore.reading(session).devices()
    guard let store = try FleetFolder(of: session).look() else { return listed }
    var registry = DeviceRegistry(listed)
    registry.add(try former(in: store))
    return registry.records
  }

  /// Returns the known devices as devices of a campaign, with their aliases as names.
  func inventory(_ aliases: DeviceAliases) throws(CommandFault) -> [FleetDevice] {
    var identities: Set<String> = []
    return try all().compactMap { record in
      let device = FleetDevice(
        id: record.id, name: aliases.alias(of: record.id)?.description ?? record.name,
        board: record.board, site: record.site, tags: Set(record.tags ?? []),
        version: record.lastVersion?.version)
      return identities.insert(device.identity).inserted ? device : nil
    }
  }

  /// Moves the devices of campaigns to the registry once. Former versions stored them in a table of
  /// the store of runs.
  package func takeOver(from store: FleetStore) throws(CommandFault) {
    let devices = try former(in: store)
    if !devices.isEmpty {
      guard try StateStore.open(session).noteCampaign(devices) else { return }
    }
    do throws(StorageFault) { try store.dropFormerDevices() } catch {
      throw .fleet(.store(error))
    }
  }

  /// Returns the events of a run; `nil` if another program has changed the run. The commands for
  /// the run report this change.
  private func events(
    of run: String, in store: FleetStore
  ) throws(StorageFault) -> [RecordedEvent]? {
    do throws(StorageFault) { return try store.events(of: run) } catch {
      guard error.kind == .unsound else { throw error }
      return nil
    }
  }

  /// Returns the devices of the runs in a store of a former version.
  private func former(in store: FleetStore) throws(CommandFault) -> [DeviceRecord] {
    do throws(StorageFault) {
      guard try store.hasFormerDevices() else { return [] }
      var registry = DeviceRegistry()
      for kept in try store.runs() {
        guard let events = try events(of: kept.id, in: store) else { continue }
        registry.add(FleetRun(events).devices.compactMap { DeviceRecord($0) })
      }
      return registry.records
    } catch {
      throw .fleet(.store(error))
    }
  }
}
#endif
