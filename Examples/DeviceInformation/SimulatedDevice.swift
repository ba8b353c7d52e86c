import OtaflashGATT
import OtaflashSimulation
import Synchronization

/// A device with five of the six strings. The model number is longer than one response, and the
/// first read of the serial number fails because the device has insufficient resources.
func simulatedDevice(on clock: any LinkClock) throws(RadioModelFault) -> SimulatedPeripheral {
  let texts: [InformationField: String] = [
    .modelNumber: "Door sensor, long range, outdoor use", .firmwareRevision: "1.2.0",
    .hardwareRevision: "rev C", .manufacturerName: "Example Works",
  ]
  let strings = InformationField.allCases.compactMap { field in
    texts[field].map { string(field, .fixed(Array($0.utf8))) }
  }
  let table = AttributeTable(services: [
    LocalService(
      .deviceInformation, characteristics: strings + [string(.serialNumber, serialNumber())])
  ])
  let advertisement = Advertisement(
    id: "sim:door", name: "Door 7", rssi: -70, services: [.deviceInformation])
  return try SimulatedPeripheral(
    advertising: advertisement, server: GATTServer(table: table), clock: clock)
}

private func string(_ field: InformationField, _ value: AttributeValue) -> LocalCharacteristic {
  LocalCharacteristic(field.uuid, properties: .read, value: value)
}

private func serialNumber() -> AttributeValue {
  let reads = Counter()
  return .computed { _ in
    reads.next() == 1 ? .failure(.insufficientResources) : .success(Array("D7-000193".utf8))
  }
}

private final class Counter: Sendable {
  private let count = Mutex(0)

  /// 1, 2, 3, …
  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
