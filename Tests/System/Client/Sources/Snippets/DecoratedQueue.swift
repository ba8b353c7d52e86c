import OtaflashGATT

/// A queue that sends a code before each command, and disconnects after it.
public func authorized(
  _ peripheral: Peripheral, by code: [UInt8], writtenTo characteristic: BluetoothUUID,
  in service: BluetoothUUID
) -> some CommandPerformer<PeripheralTurn> {
  let authorize = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "authorize") {
    (client) async throws(GATTFault) in
    try await client.write(code, to: try await client.characteristic(characteristic, in: service))
  }
  let disconnect = Command<PeripheralTurn, Void, Never>("disconnect") { $0.disconnect() }
  return peripheral.preceded(by: authorize).timeLimit(.seconds(2), on: peripheral.clock)
    .followed(by: disconnect)
}
