import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// Tests of the connection and its waits: each wait ends exactly once, requests are sent one at a
/// time, and every step is reported.
@Suite struct ConnectionTests {
  private func withDoor<Value: Sendable>(
    _ firmware: DoorFirmware, leavingRangeAfter moves: Int? = nil,
    dialing decorate: @escaping @Sendable (Dialer, VirtualClock) -> Dialer = { dialer, _ in dialer
    },
    _ body: @escaping @Sendable (Peripheral, VirtualClock) async throws -> Value
  ) throws -> Value {
    try simulate(
      near: [{ try firmware.peripheral(on: $0, leavingRangeAfter: moves) }]
    ) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      return try await withPeripheral(decorate(dialer, clock), clock: clock) { door in
        try await body(door, clock)
      }
    }
  }

  @Test func everyPendingWaitFailsWhenTheLinkIsLost() throws {
    let endings = try withDoor(DoorFirmware(), leavingRangeAfter: 1) { door, clock in
      let streams = [
        try await door.subscribe(to: .doorState, in: .door),
        try await door.subscribe(to: .doorState, in: .door),
      ]
      return try await withThrowingTaskGroup(of: GATTFault.self) { group in
        for states in streams {
          group.addTask {
            do throws(GATTFault) { for try await _ in states {} } catch { return error }
            return .cancelled
          }
        }
        group.addTask {
          do throws(PeripheralFault) {
            return try await door.perform("read repeatedly") {
              (client) async throws(GATTFault) -> GATTFault in
              let state = try await client.characteristic(.doorState, in: .door)
              while await clock.pause(for: .milliseconds(5)) { _ = try await client.read(state) }
              return .cancelled
            }
          } catch {
            guard case .gatt(let fault) = error else { throw error }
            return fault
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(endings == .init(repeating: .linkLost(.supervisionTimeout), count: 3))
  }

  @Test func aWaitIsBoundedAndLeavesNoTaskRunning() throws {
    try withDoor(DoorFirmware()) { door, clock in
      let states = try await door.subscribe(to: .doorState, in: .door)
      let soon = clock.now.advanced(by: .milliseconds(100))
      // The door moves once per second.
      await #expect(throws: GATTFault.timedOut(after: .milliseconds(100))) {
        try await withDeadline(soon, on: clock, orThrow: .timedOut(after: .milliseconds(100))) {
          () async throws(GATTFault) in
          for try await _ in states { return }
        }
      }
      #expect(clock.now == soon)
      for try await _ in states { break }
      #expect(try await door.read(.doorState, in: .door, within: .seconds(1)) == [1])
    }
  }

  @Test func theLastReaderThatStopsUnsubscribes() throws {
    let firmware = DoorFirmware()
    try withDoor(firmware) { door, clock in
      for try await _ in try await door.subscribe(to: .doorState, in: .door) { break }
      await clock.pause(for: .seconds(1))
      let reported = firmware.notifications
      await clock.pause(for: .seconds(10))
      #expect(firmware.notifications == reported)
      // A cancelled reader also unsubscribes.
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: (any Error).self) {
            for try await _ in try await door.subscribe(to: .doorState, in: .door) {}
          }
        }
        await clock.pause(for: .seconds(3))
        group.cancelAll()
      }
      await clock.pause(for: .seconds(1))
      #expect(firmware.notifications > reported)
      let after = firmware.notifications
      await clock.pause(for: .seconds(10))
      #expect(firmware.notifications == after)
      #expect(door.connectionState != .idle)
    }
  }

  @Test func oneRequestIsOutstandingAtATime() throws {
    let crossed = Mutex<[TracingLink.Crossing]>([])
    let values = try withDoor(
      DoorFirmware(),
      dialing: { dialer, clock in
        dialer.tracing(on: clock) { crossing in crossed.withLock { $0.append(crossing) } }
      },
      { door, _ in
        try await door.perform("ten at once") { client in
          let state = try await client.characteristic(.doorState, in: .door)
          return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<10 { group.addTask { try await client.read(state) } }
            return try await group.reduce(into: []) { $0.append($1) }
          }
        }
      })
    #expect(values.count == 10)
    // A request has an even opcode up to 0x20, its response has the next opcode, and an error
    // response has 0x01.
    var outstanding = 0
    for crossing in crossed.withLock({ $0 }) {
      guard let opcode = crossing.pdu.first, opcode <= 0x20, opcode != 0x1E else { continue }
      switch crossing.direction {
      case .sent where opcode.isMultiple(of: 2): outstanding += 1
      case .received where !opcode.isMultiple(of: 2) && opcode != 0x1B && opcode != 0x1D:
        outstanding -= 1
      case .sent, .received: break
      }
      #expect((0...1).contains(outstanding))
    }
  }

  @Test func attributesAreDiscoveredOnDemandAndKept() throws {
    let requests = Mutex(0)
    let counts = try withDoor(
      DoorFirmware(),
      dialing: { dialer, clock in
        dialer.tracing(on: clock) { crossing in
          if crossing.direction == .sent { requests.withLock { $0 += 1 } }
        }
      },
      { door, _ in
        var counts: [Int] = []
        for _ in 0..<2 {
          let before = requests.withLock { $0 }
          _ = try await door.read(.doorState, in: .door)
          counts.append(requests.withLock { $0 } - before)
        }
        return counts
      })
    #expect(counts[0] > 3)
    #expect(counts[1] == 1)
  }

  @Test func everyStepIsReportedWithItsError() throws {
    let steps = Mutex<[ConnectionTransition]>([])
    try withDoor(
      DoorFirmware(), leavingRangeAfter: 1,
      dialing: { dialer, _ in
        dialer.observing { step in steps.withLock { $0.append(step) } }
      },
      { door, clock in
        await #expect(throws: GATTFault.linkLost(.supervisionTimeout)) {
          for try await _ in try await door.subscribe(to: .doorState, in: .door) {}
        }
        await clock.pause(for: .milliseconds(1))
        #expect(door.connectionState == .idle)
      })
    let reported = steps.withLock { $0 }
    let first = reported.prefix { $0.to != .idle }.map(\.to)
    #expect(
      first == [
        .scanning, .discovered, .connecting, .connected, .discoveringServices, .servicesReady,
        .subscribing, .ready,
      ])
    #expect(
      reported.first { $0.to == .idle }?.failure == .gatt(.linkLost(.supervisionTimeout)))
  }

  @Test func aFailedAttemptIsAlsoAStep() throws {
    let steps = Mutex<[ConnectionTransition]>([])
    try simulate(near: []) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(1), on: clock)
        .observing { step in steps.withLock { $0.append(step) } }
      await withPeripheral(dialer, clock: clock) { door in
        await #expect(throws: PeripheralFault.self) { try await door.connect() }
        #expect(door.connectionState == .idle)
      }
    }
    let reported = steps.withLock { $0 }
    #expect(reported.map(\.to) == [.scanning, .idle])
    guard case .connect(.deviceNotFound) = reported.last?.failure else {
      Issue.record("\(reported)")
      return
    }
  }

  @Test func aSlowObserverDelaysNoOther() throws {
    let (fast, slow) = try withDoor(DoorFirmware()) { door, clock in
      let quick = try await door.subscribe(to: .doorState, in: .door)
      let late = try await door.subscribe(to: .doorState, in: .door, buffering: 2)
      var fast = 0
      for try await value in quick {
        #expect(value.lostBefore == 0)
        fast += 1
        if fast == 10 { break }
      }
      for try await value in late { return (fast, value.lostBefore) }
      return (fast, 0)
    }
    #expect(fast == 10)
    #expect(slow == 8)
  }

  @Test(arguments: [
    (ReconnectionStrategy.none, [] as [Int]),
    (.constant(.seconds(2), attempts: 3, jitter: 0), [2, 2, 2]),
    (.linear(base: .seconds(2), ceiling: .seconds(5), attempts: 4, jitter: 0), [2, 4, 5, 5]),
    (.exponential(base: .seconds(1), ceiling: .seconds(6), attempts: 4, jitter: 0), [1, 2, 4, 6]),
    (.custom(jitter: 0) { $0 < 3 ? .seconds(7 * $0) : nil }, [7, 14]),
  ])
  func aStrategyWaitsAsItsNameStates(_ strategy: ReconnectionStrategy, _ seconds: [Int]) throws {
    let waits = try simulate(near: []) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(1), on: clock)
      return await withPeripheral(dialer, clock: clock) { door in
        let waits = Mutex<[Duration]>([])
        await #expect(throws: PeripheralFault.self) {
          try await door.keepingConnected(
            strategy,
            reporting: { event in
              if case .willReconnect(_, _, let wait, _) = event {
                waits.withLock { $0.append(wait) }
              }
            },
            { (_) async throws(GATTFault) in })
        }
        return waits.withLock { $0 }
      }
    }
    #expect(waits == seconds.map { .seconds($0) })
  }
}
