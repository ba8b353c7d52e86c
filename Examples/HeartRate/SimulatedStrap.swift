import OtaflashGATT
import OtaflashSimulation

/// A chest strap that measures once per second, and is out of range for six seconds after its
/// fourth measurement.
func simulatedStrap(on clock: any LinkClock) throws(RadioModelFault) -> SimulatedPeripheral {
  let table = AttributeTable(services: [
    LocalService(
      .heartRate,
      characteristics: [
        LocalCharacteristic(.heartRateMeasurement, properties: .notify, value: .fixed([])),
        LocalCharacteristic(
          .bodySensorLocation, properties: .read,
          value: .fixed([BodySensorLocation.chest.rawValue])),
      ])
  ])
  let measurement = table.handle(of: .heartRateMeasurement)
  let advertisement = Advertisement(
    id: "sim:strap", name: "Strap 12", rssi: -62, services: [.heartRate])
  return try SimulatedPeripheral(
    advertising: advertisement, server: GATTServer(table: table), clock: clock
  ) { strap in
    var count = 0
    while await clock.pause(for: .seconds(1)) {
      let isSent = strap.server.notify(measurement, bytes(ofMeasurement: count)) == .queued
      guard isSent else { continue }
      count += 1
      if count == 4 { strap.leaveRange(for: .seconds(6)) }
    }
  }
}

/// 16 bits of beats per minute in every third measurement, 8 in the others; with skin contact.
private func bytes(ofMeasurement count: Int) -> [UInt8] {
  let beats = UInt8(64 + 3 * count)
  return count % 3 == 2 ? [0x07, beats, 0x00] : [0x06, beats]
}
