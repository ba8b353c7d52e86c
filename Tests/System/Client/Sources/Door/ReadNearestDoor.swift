import OtaflashGATT

/// Finds a door in range, connects, and reads whether it is open.
public func readNearestDoor(
  from central: some Central, on clock: any LinkClock
) async throws -> DoorState {
  let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
  return try await withPeripheral(dialer, clock: clock) { door in
    try DoorState(decoding: try await door.read(.doorState, in: .door))
  }
}
