import OtaflashGATT

/// Prints values until one is `last`, and needs five seconds for each. At most two values wait for
/// this observer.
public func printSlowly(
  _ characteristic: BluetoothUUID, in service: BluetoothUUID, of peripheral: Peripheral,
  until last: [UInt8]
) async throws {
  let values = try await peripheral.subscribe(to: characteristic, in: service, buffering: 2)
  for try await element in values {
    print("\(element.value) (\(element.lostBefore) missed)")
    if element.value == last { break }
    await peripheral.clock.pause(for: .seconds(5))
  }
}
