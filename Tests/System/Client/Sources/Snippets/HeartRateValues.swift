import OtaflashGATT

/// Returns the first `count` measurements of a heart rate strap.
public func heartRates(_ count: Int, of strap: Peripheral) async throws -> [[UInt8]] {
  var measurements: [[UInt8]] = []
  for try await event in strap.values(of: BluetoothUUID(0x2A37), in: BluetoothUUID(0x180D)) {
    if case .reconnected = event { print("connected again") }
    if let measurement = event.value { measurements.append(measurement) }
    if measurements.count == count { break }
  }
  return measurements
}
