import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of finding devices, for the first time and again.
@Suite struct DiscoveryTests {
  private func near<Value: Sendable>(
    _ doors: [(name: String, rssi: Int)],
    _ body: @escaping @Sendable (SimulatedAir, VirtualClock) async throws -> Value
  ) throws -> Value {
    try simulate(
      near: doors.map { door in
        { try DoorFirmware().peripheral(door.name, rssi: door.rssi, on: $0) }
      }, body)
  }

  @Test func aFilterSelectsByPatternServicesAndStrength() throws {
    let found = try near([("Door 7", -60), ("Door 8", -85), ("Window 7", -40)]) { central, clock in
      // A pattern that a user has entered.
      let pattern = try #require(NamePattern("^Door [0-9]$"))
      let filter = AdvertisementFilter(name: pattern, services: [.door], rssiMinimum: -70)
      return try await central.discovered(for: .seconds(2), matching: filter, on: clock)
    }
    #expect(found.map(\.name) == ["Door 7"])
  }

  @Test func aScanEndsAtItsTimeLimit() throws {
    try near([("Window 7", -40)]) { central, clock in
      await #expect(throws: ScanFault.notFound(within: .seconds(5))) {
        try await central.first(matching: doors, within: .seconds(5), on: clock)
      }
      #expect(clock.now == LinkInstant(elapsed: .seconds(5)))
    }
  }

  @Test func theSameDoorIsConnectedToAfterALoss() throws {
    let (far, near) = (DoorFirmware(), DoorFirmware())
    let ids = try simulate(near: [
      { try near.peripheral("Door 7", rssi: -50, on: $0, leavingRangeAfter: 2) },
      { try far.peripheral("Door 8", rssi: -80, on: $0) },
    ]) { central, clock in
      let known = DoorList()
      let dialer = Dialer(
        to: AdvertisementFilter(ids: ["sim:Door 7"]), from: central, within: .seconds(10),
        on: clock
      ).remembering(in: known)
      let door = Peripheral(dialer, clock: clock)
      var count = 0
      try await door.keepingConnected(.constant(.seconds(1))) { client in
        let state = try await client.characteristic(.doorState, in: .door)
        for try await _ in try await client.subscribe(to: state) {
          count += 1
          if count == 5 { return }
        }
      }
      await door.close()
      return known.devices().map(\.id)
    }
    #expect(ids == ["sim:Door 7"])
    #expect(far.notifications == 0)
  }

  @Test func theRegistryKnowsTheLastConnectedDevice() throws {
    let (last, all) = try near([("Door 7", -50), ("Door 8", -60)]) { central, clock in
      let known = DoorList()
      for name in ["Door 7", "Door 8", "Door 7"] {
        let filter = AdvertisementFilter(services: [.door], name: { $0 == name })
        let dialer = Dialer(to: filter, from: central, within: .seconds(10), on: clock)
          .remembering(in: known)
        try await withPeripheral(dialer, clock: clock) { door in try await door.connect() }
      }
      known.forget("sim:Door 8")
      return (await known.last(), known.devices())
    }
    #expect(last?.id == "sim:Door 7" && last?.name == "Door 7")
    #expect(all.count == 1)
  }
}
