import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// A sensor with a battery, a model number and a heart rate, which is notified once per second. It
/// is out of range for five seconds after the third measurement.
final class SensorFirmware: Sendable {
  static let name = "Sensor 7"

  /// The number of reads of the model number that the sensor refuses at first.
  private let refusals: Mutex<Int>

  init(refusals: Int = 0) { self.refusals = Mutex(refusals) }

  func peripheral(on clock: any LinkClock) throws -> SimulatedPeripheral {
    let table = AttributeTable(services: [
      service(0x180F, [characteristic(0x2A19, .fixed([87]))]),
      service(
        0x180A,
        [
          characteristic(0x2A24, .computed { [self] _ in model() }),
          characteristic(0x2A26, .fixed(Array("1.2.0".utf8))),
        ]),
      service(0x180D, [characteristic(0x2A37, .fixed([0]))]),
    ])
    let measurement = table.handle(of: BluetoothUUID(0x2A37))
    let advertisement = Advertisement(
      id: "sim:sensor", name: Self.name, rssi: -60,
      services: [BluetoothUUID(0x180F), BluetoothUUID(0x180D)])
    return try SimulatedPeripheral(
      advertising: advertisement, server: GATTServer(table: table), clock: clock
    ) { sensor in
      var count: UInt8 = 0
      while await clock.pause(for: .seconds(1)) {
        guard sensor.server.notify(measurement, [count]) == .queued else { continue }
        count += 1
        if count == 3 { sensor.leaveRange(for: .seconds(5)) }
      }
    }
  }

  private func model() -> Result<[UInt8], ATTErrorCode> {
    refusals.withLock { left in
      guard left == 0 else {
        left -= 1
        return .failure(.insufficientResources)
      }
      return .success(Array("S7".utf8))
    }
  }

  private func service(
    _ uuid: UInt16, _ characteristics: [LocalCharacteristic]
  ) -> LocalService {
    LocalService(BluetoothUUID(uuid), characteristics: characteristics)
  }

  private func characteristic(_ uuid: UInt16, _ value: AttributeValue) -> LocalCharacteristic {
    LocalCharacteristic(BluetoothUUID(uuid), properties: [.read, .notify], value: value)
  }
}
