import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of `Peripheral.values` with a simulated sensor that notifies every second.
@Suite struct ReconnectingValuesTests {
  private static let service = BluetoothUUID(0x180D)
  private static let measurement = BluetoothUUID(0x2A37)

  /// - Parameter moments: the numbers of the values after which the sensor is out of range for 5 s.
  private static func sensor(
    leavingRangeAfter moments: Set<UInt8>, on clock: VirtualClock
  ) throws -> SimulatedPeripheral {
    let value = LocalCharacteristic(measurement, properties: .notify, value: .fixed([]))
    let table = AttributeTable(services: [LocalService(service, characteristics: [value])])
    let handle = table.handle(ofCharacteristic: 0, inService: 0)
    return try SimulatedPeripheral(
      advertising: Advertisement(id: "sim:1", name: "Sensor", rssi: -50, services: [service]),
      server: GATTServer(table: table), clock: clock
    ) { device in
      var count: UInt8 = 0
      while await clock.pause(for: .seconds(1)) {
        guard device.server.notify(handle, [count + 1]) == .queued else { continue }
        count += 1
        if moments.contains(count) { device.leaveRange(for: .seconds(5)) }
      }
    }
  }

  @Test func valuesContinueAfterALostLink() throws {
    let seen = try simulate(near: [{ try Self.sensor(leavingRangeAfter: [2, 4], on: $0) }]) {
      central, _ in
      try await withPeripheral(
        matching: AdvertisementFilter(services: [Self.service]), from: central
      ) {
        sensor in
        var seen: [ReconnectingValues.Element] = []
        for try await event in sensor.values(of: Self.measurement, in: Self.service) {
          seen.append(event)
          if seen.compactMap(\.value).count == 6 { break }
        }
        return seen
      }
    }
    #expect(seen.count { if case .reconnected = $0 { true } else { false } } == 2)
    let numbers = seen.compactMap { $0.value?.first }
    #expect(numbers == numbers.sorted() && numbers.count == 6)
    #expect(numbers.first == 1 && numbers.last ?? 0 > 5)
  }

  @Test func theLastFailureEndsTheSequenceOnce() throws {
    let events = Mutex<[ReconnectionEvent]>([])
    let (fault, after) = try simulate(near: []) { central, _ in
      try await withPeripheral(
        matching: AdvertisementFilter(), from: central, within: .seconds(1)
      ) { sensor -> (PeripheralFault?, ReconnectingValues.Element?) in
        let values = sensor.values(
          of: Self.measurement, in: Self.service, reconnecting: .constant(.seconds(1), attempts: 2)
        ) { event in events.withLock { $0.append(event) } }
        var iterator = values.makeAsyncIterator()
        do throws(PeripheralFault) {
          _ = try await iterator.next()
          return (nil, nil)
        } catch {
          return (error, try await iterator.next())
        }
      }
    }
    guard case .connect(.deviceNotFound)? = fault else {
      Issue.record("\(String(describing: fault))")
      return
    }
    #expect(after == nil)
    let kinds = events.withLock { $0 }.map { event in
      switch event {
      case .willReconnect(let attempt, _, _, _): "wait \(attempt)"
      case .gaveUp(let attempts, _): "gave up \(attempts)"
      case .reconnected, .waitingForAdapter: "other"
      }
    }
    #expect(kinds == ["wait 1", "wait 2", "gave up 2"])
  }
}
