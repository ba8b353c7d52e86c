import OtaflashBlueZ
import OtaflashGATT

/// Where devices are listened for: with a real radio, or in a simulation.
package enum Air: Sendable {
  /// The number of the adapter; `nil` = the first that works.
  case radio(adapter: UInt16?)
  case simulated(SimulatedAir)

  /// What the command line names.
  package init(_ global: GlobalOptions) {
    self = global.simulatedAir.map { .simulated($0) } ?? .radio(adapter: global.adapterNumber)
  }

  /// The devices heard within `limit`, each once; `found` is told of each when it is heard, with
  /// `duplicates` of every advertisement.
  ///
  /// - Parameter endsWhenCancelled: a cancelled survey has ended well, with what it heard.
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
      let heard = await air.survey(filter, for: limit, duplicates: duplicates, found: found)
      guard endsWhenCancelled || !Task.isCancelled else { throw .stopped }
      return heard
    }
  }
}
