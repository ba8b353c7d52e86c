import OtaflashBlueZ
import OtaflashGATT

/// The source of advertisements: a real radio, or a simulation.
package enum Air: Sendable {
  /// The number of the adapter; `nil` = the first adapter that works.
  case radio(adapter: UInt16?)
  case simulated(SimulatedAir)

  /// Creates the source that the command line selects.
  package init(_ global: GlobalOptions) {
    self = global.simulatedAir.map { .simulated($0) } ?? .radio(adapter: global.adapterNumber)
  }

  /// Returns the devices discovered within `limit`, each device once. `found` receives each new
  /// device or, with `duplicates`, each advertisement.
  ///
  /// - Parameter endsWhenCancelled: whether a cancelled survey returns the devices found so far
  ///   instead of failing.
  package func survey(
    _ filter: ScanFilter, for limit: Duration, duplicates: Bool = false,
    endsWhenCancelled: Bool = false, found: @Sendable (ScanResult) -> Void
  ) async throws(CommandFault) -> [ScanResult] {
    switch self {
    case .radio(let adapter):
      return try await BluetoothAir.survey(
        filter.discovery, adapter: adapter, for: limit, duplicates: duplicates,
        endsWhenCancelled: endsWhenCancelled, found: found)
    case .simulated(let air):
      let devices = await air.survey(filter, for: limit, duplicates: duplicates, found: found)
      guard endsWhenCancelled || !Task.isCancelled else { throw .stopped }
      return devices
    }
  }
}
