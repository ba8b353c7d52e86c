import OtaflashGATT

extension BluetoothUUID {
  static let battery = BluetoothUUID(0x180F)
  static let batteryLevel = BluetoothUUID(0x2A19)
}

/// Returns the battery level of the first sensor that a scan finds, in percent.
public func batteryLevel(from central: some Central, on clock: any LinkClock) async throws -> UInt8?
{
  let sensors = AdvertisementFilter(name: /^Sensor/, services: [.battery], rssiMinimum: -80)
  let dialer = Dialer(to: sensors, from: central, within: .seconds(10), on: clock)
  return try await withPeripheral(dialer, clock: clock) { peripheral in
    try await peripheral.read(.batteryLevel, in: .battery).first
  }
}
