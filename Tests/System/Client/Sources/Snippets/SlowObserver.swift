import OtaflashGATT

/// Prints `count` values, and needs five seconds for each. At most two values wait for this
/// observer.
public func printSlowly(
  _ count: Int, valuesOf characteristic: BluetoothUUID, in service: BluetoothUUID,
  of peripheral: Peripheral
) async throws {
  let values = try await peripheral.subscribe(to: characteristic, in: service, buffering: 2)
  var printed = 0
  for try await element in values {
    print("\(element.value) (\(element.lostBefore) missed)")
    printed += 1
    if printed == count { break }
    await peripheral.clock.pause(for: .seconds(5))
  }
}
