import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// The program of the page "Your first central in ten minutes".
@Suite struct FirstCentralTests {
  @Test func theNearestDoorIsRead() throws {
    let firmware = DoorFirmware()
    let state = try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      try await readNearestDoor(from: central, on: clock)
    }
    #expect(state == .closed)
  }

  @Test func aDoorIsLockedWhenItHasOpened() throws {
    let firmware = DoorFirmware()
    try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      try await withPeripheral(dialer, clock: clock) { door in
        try await lockWhenOpened(door, with: 42)
      }
    }
    #expect(firmware.locks == [1])
  }

  @Test func failuresAreExplained() throws {
    let firmware = DoorFirmware()
    let messages = try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let noDoor = Dialer(
        to: AdvertisementFilter(name: /^Gate/), from: central, within: .seconds(1), on: clock)
      var messages: [String] = []
      for dialer in [dialer, noDoor] {
        do throws(PeripheralFault) {
          let door = Peripheral(dialer, clock: clock)
          try await door.write([1], to: .doorLock, in: .door)
        } catch {
          messages.append(words(for: error))
        }
      }
      return messages
    }
    #expect(messages == ["The code is wrong.", "Go nearer to the door."])
  }

  @Test func aDoorIsObservedAcrossALoss() throws {
    let firmware = DoorFirmware()
    let states = Mutex<[DoorState]>([])
    let note: @Sendable (DoorState) -> Void = { state in states.withLock { $0.append(state) } }
    try simulate(near: [{ try firmware.peripheral(on: $0, leavingRangeAfter: 2) }]) {
      central, clock in
      let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
      let door = Peripheral(dialer, clock: clock)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          // The function ends with its task.
          await #expect(throws: PeripheralFault.self) {
            try await followDoor(door, telling: note)
          }
        }
        await clock.pause(for: .seconds(60))
        group.cancelAll()
      }
      await door.close()
    }
    let seen = states.withLock { $0 }
    #expect(seen.count > 30)
    #expect(zip(seen, seen.dropFirst()).contains { $0 != $1 })
  }
}
