import OtaflashGATT

/// Writes a value, and returns a message for the user.
public func write(
  _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID,
  of peripheral: Peripheral
) async -> String {
  do throws(PeripheralFault) {
    try await peripheral.write(value, to: characteristic, in: service)
    return "The device accepted the value."
  } catch .gatt(.refused(_, .outOfRange)) {
    return "The device does not permit this value."
  } catch {
    return "\(error.summary): \(error.explanation)"
  }
}
