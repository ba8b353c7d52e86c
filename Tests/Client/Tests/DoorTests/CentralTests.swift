import Door
import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Scan, connect, discover, read, observe, reconnect; a service of one's own on both sides; the queue
/// and its decorators; a peripheral that is held.
@Suite struct CentralTests {
  @Test func theNearestDoorIsFoundReadAndFollowedOverALoss() throws {
    let firmware = DoorFirmware()
    let events = Mutex<[ReconnectionEvent]>([])
    let states = try simulate(
      near: [{ try firmware.peripheral(on: $0, leavingRangeAfter: 3) }]
    ) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let model = DoorModel(dialer, clock: clock)
      #expect(try await model.state() == .closed)
      var states: [DoorState] = []
      try await model.follow(telling: { event in events.withLock { $0.append(event) } }) { state in
        states.append(state)
        return states.count < 6
      }
      return states
    }
    #expect(states.count == 6)
    let told = events.withLock { $0 }
    #expect(
      told.contains { if case .willReconnect(attempt: 1, _, _, _) = $0 { true } else { false } })
    #expect(told.contains { if case .reconnected = $0 { true } else { false } })
  }

  @Test func everyCommandOfADecoratedQueueIsAuthorized() throws {
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let model = DoorModel(dialer, clock: clock)
      // The door wants the code before each write.
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

  @Test func whatIsEnqueuedRunsInOrderAndCanBeCancelled() throws {
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

  @Test func aHeldPeripheralConnectsAndDisconnectsWhenAsked() throws {
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
