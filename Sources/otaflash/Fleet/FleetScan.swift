#if Fleet
import OtaflashATT
import OtaflashBlueZ
import OtaflashFleet
import OtaflashGATT

/// The devices that a campaign's scan finds.
struct FleetScan: Sendable {
  private let scan: DeviceScan

  init(_ scan: DeviceScan) { self.scan = scan }

  /// - Parameter adapter: the number of the one that listens; `nil` = the first that works.
  func devices(
    on adapter: UInt16?, in session: Session
  ) async throws(CommandFault) -> [FleetDevice] {
    session.console.note("looking for devices for \(Text.seconds(scan.duration))")
    let (scan, services) = (scan, scan.service.flatMap { BluetoothUUID($0) })
    let filter = DiscoveryFilter(
      services: [services].compactMap(\.self),
      rssiMinimum: scan.rssiMinimum.map(Int8.init(clamping:))
    ) { scan.takes(name: $0.name, rssi: $0.rssi.map { Int($0) }) }
    let found = try await BluetoothAir.survey(
      filter, adapter: adapter, for: scan.duration, found: { _ in })
    try DeviceRecords.open(session).seen(found)
    return found.map { scan.device($0.id, name: $0.name, rssi: $0.rssi) }
  }
}
#endif
