import OtaflashGATT

/// Finds the nearest door, connects, and reads whether it is open.
public func readNearestDoor(
  from central: some Central, on clock: any LinkClock
) async throws -> DoorState {
  let dialer = Dialer(to: doors, from: central, within: .seconds(10), on: clock)
  return try await withPeripheral(dialer, clock: clock) { door in
    try DoorState(decoding: try await door.read(.doorState, in: .door))
  }
}

/// Waits until a door has opened, and locks it.
public func lockWhenOpened(_ door: Peripheral, with code: UInt8) async throws {
  let states = try await door.subscribe(to: .doorState, in: .door)
  for try await state in states where try DoorState(decoding: state.value) == .open { break }
  try await door.write([code], to: .doorCode, in: .door)
  try await door.write([1], to: .doorLock, in: .door)
}

/// The message for a door that cannot be read.
public func words(for fault: PeripheralFault) -> String {
  switch fault {
  case .connect(.deviceNotFound): "Go nearer to the door."
  case .gatt(.refused(_, .insufficientAuthorization)): "The code is wrong."
  case .gatt(.linkLost): "The door went out of range."
  case .connect, .gatt, .queue: "\(fault.summary): \(fault.explanation)"
  @unknown default: "\(fault)"
  }
}

/// Reports each change of a door while the task runs, over as many connections as needed.
public func followDoor(
  _ door: Peripheral, telling change: @escaping @Sendable (DoorState) -> Void
) async throws {
  try await door.keepingConnected(.exponential(attempts: .max)) { client in
    let state = try await client.characteristic(.doorState, in: .door)
    for try await value in try await client.subscribe(to: state) {
      change(try DoorState(decoding: value.value))
    }
  }
}
