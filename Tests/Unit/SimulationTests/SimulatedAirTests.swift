import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct SimulatedAirTests {
  private static let service = BluetoothUUID(0x180F)
  private static let level = BluetoothUUID(0x2A19)

  private static func lamp(on clock: any LinkClock) throws -> SimulatedPeripheral {
    try lamp("a", on: clock)
  }

  private static func lamp(
    _ id: String, rssi: Int = -60, every interval: Duration = .milliseconds(100),
    on clock: any LinkClock,
    behaviour: @escaping @Sendable (SimulatedPeripheral) async -> Void = { _ in }
  ) throws -> SimulatedPeripheral {
    let table = AttributeTable(services: [
      LocalService(
        service,
        characteristics: [LocalCharacteristic(level, properties: .read, value: .fixed([99]))])
    ])
    return try SimulatedPeripheral(
      advertising: Advertisement(id: id, name: "Lamp \(id)", rssi: rssi, services: [service]),
      every: interval, server: GATTServer(table: table), clock: clock, behaviour: behaviour)
  }

  @Test func eachMatchingDeviceIsDiscoveredOnceWithinItsInterval() throws {
    let lamps: [(VirtualClock) throws -> SimulatedPeripheral] = [
      { try Self.lamp("a", on: $0) }, { try Self.lamp("far", rssi: -95, on: $0) },
      { try Self.lamp("slow", every: .seconds(10), on: $0) },
    ]
    let discovered = try simulate(near: lamps) { central, clock -> [String: Duration] in
      var discovered: [String: Duration] = [:]
      for try await device in central.advertisements(matching: Self.near) {
        #expect(discovered[device.id] == nil)
        discovered[device.id] = clock.now.elapsed
        if discovered.count == 2 { break }
      }
      return discovered
    }
    #expect(Set(discovered.keys) == ["a", "slow"])
    #expect(try #require(discovered["a"]) <= .milliseconds(100))
    #expect(try #require(discovered["slow"]) <= .seconds(10))
  }

  private static let near = AdvertisementFilter(services: [service], rssiMinimum: -80)

  @Test func aDeviceOutOfRangeIsNotDiscoveredAndCannotBeConnected() throws {
    let (found, connected) = try simulate(near: [Self.lamp]) {
      central, clock -> (ScanFault?, ConnectFault?) in
      central.peripherals[0].leaveRange(for: .seconds(60))
      return (await Self.find(central, clock), await Self.connect(central))
    }
    #expect(found == .notFound(within: .seconds(5)))
    guard case .deviceNotFound = connected else {
      Issue.record("the connection returned \(String(describing: connected))")
      return
    }
  }

  @Test func aConnectedDeviceIsSilentUntilItsConnectionEnds() throws {
    let faults = try simulate(near: [Self.lamp]) { central, clock -> [ScanFault?] in
      let link = try await central.connect(
        to: central.peripherals[0].advertisement, within: .seconds(5))
      let during = await Self.find(central, clock)
      link.close()
      return [during, await Self.find(central, clock)]
    }
    #expect(faults == [.notFound(within: .seconds(5)), nil])
  }

  @Test func withoutDevicesTheScannerIsSilentAndEndsWithItsBody() throws {
    let fault = try simulate(near: []) { await Self.find($0, $1) }
    #expect(fault == .notFound(within: .seconds(5)))
  }

  @Test func leavingRangeEndsTheConnectionAndComingBackPermitsAnother() throws {
    let lamp = { (clock: VirtualClock) throws -> SimulatedPeripheral in
      try Self.lamp("a", on: clock) { lamp in
        await clock.pause(for: .seconds(2))
        lamp.leaveRange(for: .seconds(5))
      }
    }
    let losses = try simulate(near: [lamp]) { central, clock -> [PeripheralFault] in
      let dialer = Dialer(to: Self.near, from: central, within: .seconds(20), on: clock)
      return await withPeripheral(dialer, clock: clock) { peripheral in
        var losses: [PeripheralFault] = []
        for _ in 0..<8 {
          do throws(PeripheralFault) {
            let value = try await peripheral.read(Self.level, in: Self.service)
            #expect(value == [99])
          } catch {
            losses.append(error)
          }
          await clock.pause(for: .milliseconds(700))
        }
        return losses
      }
    }
    #expect(losses == [.gatt(.linkLost(.supervisionTimeout))])
  }

  @Test func aRunIsAFunctionOfItsSeed() throws {
    func moments(seed: UInt64) throws -> [LinkInstant] {
      let timeline = VirtualTimeline()
      let lamps = try (0..<8).map { try Self.lamp("\($0)", on: timeline.clock) }
      return try timeline.run { clock in
        await withAir(lamps, clock: clock, random: SeededRandom(seed: seed)) { central in
          var moments: [LinkInstant] = []
          var devices = central.advertisements(matching: Self.near).makeAsyncIterator()
          for _ in lamps {
            do { _ = try await devices.next() } catch { Issue.record(error) }
            moments.append(clock.now)
          }
          return moments
        }
      }
    }
    #expect(try moments(seed: 7) == moments(seed: 7))
    #expect(try moments(seed: 7) != moments(seed: 8))
  }

  private static func find(
    _ central: SimulatedAir, _ clock: VirtualClock
  ) async -> ScanFault? {
    do throws(ScanFault) {
      _ = try await central.first(matching: near, within: .seconds(5), on: clock)
      return nil
    } catch {
      return error
    }
  }

  private static func connect(_ central: SimulatedAir) async -> ConnectFault? {
    do throws(ConnectFault) {
      let device = central.peripherals[0].advertisement
      try await central.connect(to: device, within: .seconds(5)).close()
      return nil
    } catch {
      return error
    }
  }
}
