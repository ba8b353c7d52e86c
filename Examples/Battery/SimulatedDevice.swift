import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// A device whose battery loses one percent per second (Battery Service 1.0, 3.1).
func simulatedDevice(on clock: any LinkClock) throws(RadioModelFault) -> SimulatedPeripheral {
  let battery = SimulatedBattery()
  let table = AttributeTable(services: [
    LocalService(
      .battery,
      characteristics: [
        LocalCharacteristic(
          .batteryLevel, properties: [.read, .notify],
          value: .computed { _ in .success([battery.level]) })
      ])
  ])
  let level = table.handle(of: .batteryLevel)
  let advertisement = Advertisement(
    id: "sim:lamp", name: "Lamp", rssi: -55, services: [.battery])
  return try SimulatedPeripheral(
    advertising: advertisement, server: GATTServer(table: table), clock: clock
  ) { device in
    while battery.level > 0, await clock.pause(for: .seconds(1)) {
      device.server.notify(level, [battery.drain()])
    }
  }
}

private final class SimulatedBattery: Sendable {
  private let percent = Mutex<UInt8>(100)

  var level: UInt8 { percent.withLock { $0 } }

  func drain() -> UInt8 {
    percent.withLock { percent in
      percent -= 1
      return percent
    }
  }
}
