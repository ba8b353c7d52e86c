#if Fleet
import OtaflashATT
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashGATT

/// Scans for the devices of a campaign on every adapter that the run may use, or in simulated air.
package struct FleetScan: Sendable {
  private let scan: DeviceScan

  package init(_ scan: DeviceScan) { self.scan = scan }

  /// - Parameter adapters: the numbers of the scanning adapters; `nil` = all adapters that are on.
  package func devices(
    on adapters: Set<UInt16>?, in session: Session
  ) async throws(CommandFault) -> [FleetDevice] {
    let airs = try await airs(adapters, in: session)
    session.console.note("scanning for devices for \(Text.seconds(scan.duration))")
    var scans: [[ScanResult]] = []
    var failure: CommandFault?
    for result in await survey(airs) {
      switch result {
      case .success(let found): scans.append(found)
      case .failure(let fault): failure = failure ?? fault
      }
    }
    if let failure {
      guard !scans.isEmpty else { throw failure }
      session.console.note(
        "note: \(airs.count - scans.count) of \(airs.count) adapters did not scan")
    }
    let found = Self.merged(scans).filter { scan.takes(name: $0.name, rssi: $0.rssi) }
    try StateStore.open(session).seen(found)
    return found.map { scan.device($0.id, name: $0.name, rssi: $0.rssi) }
  }

  private func airs(
    _ adapters: Set<UInt16>?, in session: Session
  ) async throws(CommandFault) -> [Air] {
    if let air = session.global.simulatedAir { return [.simulated(air)] }
    let present: [UInt16]
    do throws(MgmtFault) { present = try await AdapterRoster().present() } catch {
      throw .survey(error)
    }
    let usable = present.filter { adapters?.contains($0) ?? true }
    guard !usable.isEmpty else {
      throw .survey(.adapterUnavailable(cause: "No adapter is on.", remedy: .plugInAdapter))
    }
    return usable.sorted().map { .radio(adapter: $0) }
  }

  private func survey(_ airs: [Air]) async -> [Result<[ScanResult], CommandFault>] {
    let filter = ScanFilter(
      name: nil, service: scan.service.flatMap { BluetoothUUID($0) },
      rssiMinimum: scan.rssiMinimum.map(Int8.init(clamping:)), takesNameless: true)
    let duration = scan.duration
    return await withTaskGroup(of: (Int, Result<[ScanResult], CommandFault>).self) { group in
      for (place, air) in airs.enumerated() {
        group.addTask {
          do throws(CommandFault) {
            return (place, .success(try await air.survey(filter, for: duration, found: { _ in })))
          } catch {
            return (place, .failure(error))
          }
        }
      }
      var results: [(Int, Result<[ScanResult], CommandFault>)] = []
      for await result in group { results.append(result) }
      return results.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  /// Returns each device once, from the adapter with the strongest signal.
  static func merged(_ scans: [[ScanResult]]) -> [ScanResult] {
    var best: [ScanResult] = []
    var places: [String: Int] = [:]
    for result in scans.joined() {
      guard let place = places[result.id] else {
        places[result.id] = best.count
        best.append(result)
        continue
      }
      guard (result.rssi ?? .min) > (best[place].rssi ?? .min) else { continue }
      best[place] = result
    }
    return best
  }
}
#endif
