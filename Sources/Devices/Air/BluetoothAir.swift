import OtaflashBlueZ
import OtaflashGATT

/// The real radio: connects to addresses and discovers advertising devices.
package enum BluetoothAir {
  package static func dialer(
    to location: TrackedAddress, adapter: UInt16?, within limit: Duration, pairing: PairingAgent,
    tuner: LinkTuner
  ) -> Dialer {
    Dialer(at: { (place) async throws(ConnectFault) -> any Link in
      try await L2CAPLink.connect(
        to: try await location.address(
          at: place, hearing: LocalAdapter(adapter ?? 0), on: EventLoopClock()),
        adapter: try await LocalAdapter.address(of: adapter),
        within: limit,
        pairing: pairing, tuner: tuner)
    })
  }

  /// Returns the devices discovered within `limit`, each once; `found` receives each device, or
  /// with `duplicates` each advertisement.
  ///
  /// - Parameter endsWhenCancelled: whether a cancelled survey returns the devices found so far
  ///   instead of failing.
  package static func survey(
    _ filter: DiscoveryFilter, adapter: UInt16?, for limit: Duration, duplicates: Bool = false,
    endsWhenCancelled: Bool = false, found: @Sendable (ScanResult) -> Void
  ) async throws(CommandFault) -> [ScanResult] {
    let discovery = Discovery(
      adapter: adapter ?? 0, filter: filter, within: limit, reportsDuplicates: duplicates)
    var results: [BluetoothAddress: ScanResult] = [:]
    var order: [BluetoothAddress] = []
    do throws(MgmtFault) {
      for try await device in discovery {
        let result = ScanResult(device)
        if results.updateValue(result, forKey: device.address) == nil {
          order.append(device.address)
        }
        found(result)
      }
    } catch .cancelled where endsWhenCancelled {
      // Only cancellation ends a scan without a limit.
    } catch {
      throw .survey(error)
    }
    return order.compactMap { results[$0] }
  }
}
