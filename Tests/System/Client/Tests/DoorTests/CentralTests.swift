import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of scan, connection, discovery, reads, observation and reconnection; of a custom service
/// on client and server; of the queue and its decorators; and of a peripheral that the app owns.
@Suite struct CentralTests {
  @Test func theDoorsInRangeAreListedTheNearestFirst() throws {
    let (near, far) = (DoorFirmware(), DoorFirmware())
    let (collected, list) = try simulate(near: [
      { try far.peripheral("Door 8", rssi: -80, on: $0) },
      { try near.peripheral("Door 7", rssi: -50, on: $0) },
      { try far.peripheral("Window 1", on: $0) },
    ]) { central, clock in
      let collected = try await central.discovered(
        for: .seconds(2), matching: doors, on: clock)
      // One scan for any number of readers, as a screen needs it.
      let scan = SharedScan(of: central, matching: doors)
      for try await list in scan.lists() where list.count == 2 {
        return (collected.map(\.name), list.map(\.name))
      }
      return (collected.map(\.name), [])
    }
    #expect(collected == ["Door 7", "Door 8"])
    #expect(list == ["Door 7", "Door 8"])
  }

  @Test func everythingThatADoorOffersIsDiscovered() throws {
    let firmware = DoorFirmware()
    let lines = try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      return try await DoorModel(dialer, clock: clock).inventory()
    }
    for uuid in [BluetoothUUID.doorState, .doorLock, .doorCode] {
      #expect(lines.contains { $0.hasPrefix("\(BluetoothUUID.door) \(uuid) ") }, "\(lines)")
    }
  }

  @Test func anInvalidValueIsACustomError() throws {
    let firmware = DoorFirmware(saysNonsense: true)
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      await #expect(throws: DoorError.unreadable([7])) {
        try await DoorModel(dialer, clock: clock).state()
      }
    }
  }

  @Test func aQueueRetriesRecordsAndDisconnectsAfterEachCommand() throws {
    let firmware = DoorFirmware(busyReads: 2)
    let logbook = Logbook()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let peripheral = Peripheral(dialer, clock: clock)
      let disconnect = Command<PeripheralTurn, Void, Never>("disconnect") { $0.disconnect() }
      let careful = peripheral.decorated(by: logbook)
        .retrying(.linear(attempts: 3), on: clock) { fault in
          if case .gatt(.refused) = fault as? PeripheralFault { true } else { false }
        }
        .followed(by: disconnect)
      let state = try await careful.read(.doorState, in: .door, within: .seconds(2))
      // The door has opened before the retry.
      #expect(state == [1])
      #expect(peripheral.connectionState == .idle)
      await peripheral.close()
    }
    let name = "read \(BluetoothUUID.doorState)"
    #expect(logbook.lines == ["\(name): failed", "\(name): failed", "\(name): done"])
  }

  @Test func commandsWithDifferentErrorsAreCombined() throws {
    enum CodeFault: Error { case noCode }
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let peripheral = Peripheral(dialer, clock: clock)
      let ask = Command<PeripheralTurn, Void, CodeFault>("ask") {
        (_) async throws(CodeFault) in throw .noCode
      }
      let lock = Command(onConnection: "lock") { (client) async throws(GATTFault) in
        try await client.write([1], to: try await client.characteristic(.doorLock, in: .door))
      }
      do throws(QueueFault<MultipleFaults<PeripheralFault, CodeFault>>) {
        try await peripheral.perform(lock.preceded(by: ask))
        Issue.record("the door was locked")
      } catch .failed(.other(.noCode)) {
        // The failure occurred without a connection.
        #expect(peripheral.connectionState == .idle)
      }
      await peripheral.close()
    }
    #expect(firmware.locks.isEmpty)
  }

  @Test func theNearestDoorIsFoundReadAndObservedAcrossALoss() throws {
    let firmware = DoorFirmware()
    let events = Mutex<[ReconnectionEvent]>([])
    let states = try simulate(
      near: [{ try firmware.peripheral(on: $0, leavingRangeAfter: 3) }]
    ) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let model = DoorModel(dialer, clock: clock)
      #expect(try await model.state() == .closed)
      var states: [DoorState] = []
      try await model.follow(reporting: { event in events.withLock { $0.append(event) } }) {
        state in
        states.append(state)
        return states.count < 6
      }
      return states
    }
    #expect(states.count == 6)
    let seen = events.withLock { $0 }
    #expect(
      seen.contains { if case .willReconnect(attempt: 1, _, _, _) = $0 { true } else { false } })
    #expect(seen.contains { if case .reconnected = $0 { true } else { false } })
  }

  @Test func everyCommandOfADecoratedQueueIsAuthorized() throws {
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let model = DoorModel(dialer, clock: clock)
      // The door requires the code before each write.
      await #expect(throws: PeripheralFault.self) {
        try await model.peripheral.write([1], to: .doorLock, in: .door)
      }
      let authorized = model.authorized(by: 42)
      try await authorized.write([1], to: .doorLock, in: .door)
      try await authorized.write([0], to: .doorLock, in: .door)
      await #expect(throws: PeripheralFault.self) {
        try await model.authorized(by: 13).write([1], to: .doorLock, in: .door)
      }
    }
    #expect(firmware.locks == [1, 0])
  }

  @Test func enqueuedCommandsRunInOrderAndCanBeCancelled() throws {
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let peripheral = Peripheral(dialer, clock: clock)
      let order = Mutex<[Int]>([])
      let commands = (1...20).map { number in
        peripheral.enqueue(
          Command<PeripheralTurn, Void, Never>("number \(number)") { _ in
            order.withLock { $0.append(number) }
          })
      }
      commands[9].cancel()
      try await commands[19].value
      #expect(order.withLock { $0 } == Array(1...9) + Array(11...20))
      await peripheral.close()
    }
  }

  @Test func anOwnedPeripheralConnectsAndDisconnectsOnRequest() throws {
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let peripheral = Peripheral(dialer, clock: clock)
      #expect(peripheral.connectionState == .idle)
      try await peripheral.connect()
      #expect(peripheral.connectionState != .idle)
      try await peripheral.disconnect()
      #expect(peripheral.connectionState == .idle)
      #expect(try await peripheral.read(.doorState, in: .door) == [0])
      await peripheral.close()
    }
  }
}
