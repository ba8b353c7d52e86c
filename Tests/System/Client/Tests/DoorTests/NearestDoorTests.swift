import Door
import OtaflashSimulation
import Testing

@Test func theNearestDoorIsRead() throws {
  let firmware = DoorFirmware()
  let state = try simulate(near: [{ try firmware.peripheral(on: $0) }]) { central, clock in
    try await readNearestDoor(from: central, on: clock)
  }
  #expect(state == .closed)
}
