import OtaflashDevices
import OtaflashState

#if Fleet
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetStore
#endif

/// The devices that are known from here: from commands for one device, and from campaigns, of which
/// the store keeps any number.
struct KnownDevices: Sendable {
  private let session: Session

  init(_ session: Session) { self.session = session }

  /// Last connected first, then last seen.
  func all() throws(CommandFault) -> [DeviceRecord] {
    let listed = try DeviceRecords.reading(session).devices()
    #if Fleet
    return Self.merged(listed, try ofCampaigns())
    #else
    return listed
    #endif
  }
}

#if Fleet
extension KnownDevices {
  /// The list of devices goes into the store once, so that campaigns know what was seen before.
  func takeOver(into store: FleetStore) throws(CommandFault) {
    let listed = try DeviceRecords.open(session).devices()
    do throws(StorageFault) { try store.takeOver(listed.map { DeviceRow($0) }) } catch {
      throw .fleet(.store(error))
    }
  }

  /// The known devices as a campaign takes them, with their aliases as names.
  func inventory(_ aliases: DeviceAliases) throws(CommandFault) -> [FleetDevice] {
    let rows = Dictionary(try rows().map { ($0.id, $0) }) { first, _ in first }
    var identities: Set<String> = []
    return try all().compactMap { record in
      let row = rows[record.id]
      let device = FleetDevice(
        id: record.id, name: aliases.alias(of: record.id)?.description ?? record.name,
        board: row?.board, site: row?.site, tags: row?.tags ?? [],
        version: record.lastVersion?.version)
      return identities.insert(device.identity).inserted ? device : nil
    }
  }

  private func ofCampaigns() throws(CommandFault) -> [DeviceRecord] {
    try rows().compactMap { DeviceRecord($0) }
  }

  /// Boards of simulated fleets have no name that a command takes, and are left out.
  private func rows() throws(CommandFault) -> [DeviceRow] {
    guard let store = try FleetFolder(of: session).look() else { return [] }
    do throws(StorageFault) {
      return try store.devices().filter { row in
        do { return try DeviceSelector.parse(row.id).text == row.id } catch { return false }
      }
    } catch {
      throw .fleet(.store(error))
    }
  }

  /// Two records of one device become one, each field by its own time.
  static func merged(_ first: [DeviceRecord], _ second: [DeviceRecord]) -> [DeviceRecord] {
    let records = Dictionary((first + second).map { ($0.id, $0) }) { $0.merged(with: $1) }
    return records.values.sorted { left, right in
      (left.place.0, left.place.1, right.id) > (right.place.0, right.place.1, left.id)
    }
  }
}

extension DeviceRecord {
  /// For the order.
  fileprivate var place: (Double, Double) { (lastConnected ?? -.infinity, lastSeen) }

  init?(_ row: DeviceRow) {
    guard let seen = row.lastSeen else { return nil }
    self.init(id: row.id, lastSeen: seen.seconds)
    name = row.name
    address = row.address
    lastConnected = row.lastConnected?.seconds
    lastFlashing = row.lastFlashing.flatMap { flashing in
      Flashing.Outcome(rawValue: flashing.outcome.rawValue).map {
        Flashing(outcome: $0, version: flashing.version, at: flashing.at.seconds)
      }
    }
    if let version = row.version, let read = row.versionRead {
      running = Running(version: version, at: read.seconds)
    }
  }
}

extension DeviceRow {
  fileprivate init(_ record: DeviceRecord) {
    self.init(id: record.id)
    name = record.name
    address = record.address
    lastSeen = FleetTime(seconds: record.lastSeen)
    lastConnected = record.lastConnected.map { FleetTime(seconds: $0) }
    lastFlashing = record.lastFlashing.flatMap { flashing in
      Flashing.Outcome(rawValue: flashing.outcome.rawValue).map {
        Flashing(outcome: $0, version: flashing.version, at: FleetTime(seconds: flashing.at))
      }
    }
    if let known = record.lastVersion {
      setVersion(known.version, at: FleetTime(seconds: known.at))
    }
  }
}

extension FleetTime {
  fileprivate init(seconds: Double) { self.init(milliseconds: Int64(seconds * 1000)) }
  fileprivate var seconds: Double { Double(milliseconds) / 1000 }
}
#endif
