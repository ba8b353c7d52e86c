import OtaflashGATT
import OtaflashSimulation

/// Follows the nearer of two simulated sensors: the second, which has the stronger signal. A lamp,
/// with a signal that is stronger still, is also in range.
func followSimulated() throws {
  try simulate(near: [sensor("Sensor 1", rssi: -80), sensor("Sensor 2", rssi: -55), lamp]) {
    central, clock in
    try await follow(
      prefix: "Sensor", readings: 3, from: central, adapter: nil, on: clock)
  }
}

typealias MakingPeripheral =
  @Sendable (any LinkClock) throws(RadioModelFault) -> SimulatedPeripheral

private func sensor(_ name: String, rssi: Int) -> MakingPeripheral {
  { (clock) throws(RadioModelFault) in
    let revision = LocalCharacteristic(
      .firmwareRevision, properties: .read, value: .fixed(Array("1.2.0".utf8)))
    let table = AttributeTable(services: [
      LocalService(.deviceInformation, characteristics: [revision])
    ])
    return try SimulatedPeripheral(
      advertising: Advertisement(
        id: "sim:\(name)", name: name, rssi: rssi, services: [.deviceInformation]),
      server: GATTServer(table: table), clock: clock)
  }
}

private let lamp: MakingPeripheral = { (clock) throws(RadioModelFault) in
  try SimulatedPeripheral(
    advertising: Advertisement(id: "sim:lamp", name: "Lamp", rssi: -40, services: []),
    server: GATTServer(table: AttributeTable(services: [])), clock: clock)
}
