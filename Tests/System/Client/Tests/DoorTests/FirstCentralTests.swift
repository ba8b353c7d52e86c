import Door
import OtaflashGATT
import OtaflashSimulation
import Testing

/// The program of the page "Your first central in ten minutes"; the page shows two more tests.
@Suite struct FirstCentralTests {
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
          messages.append(message(for: error))
        }
      }
      return messages
    }
    #expect(messages == ["The code is wrong.", "Go nearer to the door."])
  }
}
