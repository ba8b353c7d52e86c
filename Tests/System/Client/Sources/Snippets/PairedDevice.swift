import OtaflashBlueZ
import OtaflashGATT

/// Reads a value of the first device that passes a filter, and pairs if the device requires it.
public func readPaired(
  _ characteristic: BluetoothUUID, in service: BluetoothUUID, of devices: AdvertisementFilter,
  keepingKeysIn store: any BondStore
) async throws -> [UInt8] {
  let agent = PairingAgent(adapter: 0, makesBonds: true, user: .unattended, store: store)
  let adapter = LocalAdapter(0, address: try await LocalAdapter.address(of: 0), pairing: agent)
  return try await withTaskExecutorPreference(EventLoop.shared) {
    try await agent.serve { () async throws(any Error) -> [UInt8] in
      try await withPeripheral(matching: devices, from: adapter) { peripheral in
        try await peripheral.read(characteristic, in: service)
      }
    }
  }
}
