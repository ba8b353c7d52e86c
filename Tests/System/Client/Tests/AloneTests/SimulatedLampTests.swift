import OtaflashGATT
import OtaflashSimulation
import Testing

private let lamp: BluetoothUUID = "7b1c0011-52a8-4d3f-9c1e-0f2d6a4e8b90"
private let brightness: BluetoothUUID = "7b1c0012-52a8-4d3f-9c1e-0f2d6a4e8b90"

/// A lamp that notifies one percent less every second, and is out of range for five seconds once.
private func simulatedLamp(on clock: any LinkClock) throws -> SimulatedPeripheral {
  let table = AttributeTable(services: [
    LocalService(
      lamp,
      characteristics: [
        LocalCharacteristic(brightness, properties: [.read, .notify], value: .fixed([100]))
      ])
  ])
  let handle = table.handle(of: brightness)
  return try SimulatedPeripheral(
    advertising: Advertisement(id: "sim:lamp", name: "Lamp", rssi: -40, services: [lamp]),
    server: GATTServer(table: table), clock: clock
  ) { device in
    var percent: UInt8 = 100
    while percent > 0, await clock.pause(for: .seconds(1)) {
      percent -= 1
      device.server.notify(handle, [percent])
      if percent == 97 { device.leaveRange(for: .seconds(5)) }
    }
  }
}

@Test func theBrightnessIsObservedAcrossALoss() throws {
  let values = try simulate(near: [simulatedLamp]) { central, clock in
    let lamps = AdvertisementFilter(services: [lamp])
    return try await withPeripheral(matching: lamps, from: central) { peripheral -> [[UInt8]] in
      var values: [[UInt8]] = []
      for try await event in peripheral.values(of: brightness, in: lamp) {
        if let value = event.value { values.append(value) }
        if values.count == 10 { break }
      }
      return values
    }
  }
  #expect(values.count == 10 && values[0][0] > values[9][0])
}
