import Door
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

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
        // The function returns when its task ends.
        await #expect(throws: PeripheralFault.self) {
          try await followDoor(door, reporting: note)
        }
      }
      await clock.pause(for: .seconds(60))
      group.cancelAll()
    }
    await door.close()
  }
  #expect(states.withLock { $0.count } > 30)
}
