import OtaflashGATT

/// Lists the devices that are in range within two seconds, connects to the device with the
/// strongest signal, and reads a value.
public func readStrongest(
  _ characteristic: BluetoothUUID, in service: BluetoothUUID, from central: some Central
) async throws -> [UInt8]? {
  let devices = try await central.discovered(for: .seconds(2), on: central.clock)
  for device in devices { print("\(device.name ?? "(no name)"): \(device.rssi ?? 0) dBm") }
  guard let strongest = devices.first else { return nil }
  return try await withPeripheral(strongest, from: central) { peripheral in
    try await peripheral.read(characteristic, in: service)
  }
}
