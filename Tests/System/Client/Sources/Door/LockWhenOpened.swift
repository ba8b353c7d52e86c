import OtaflashGATT

/// Waits until a door has opened, and locks it.
public func lockWhenOpened(_ door: Peripheral, with code: UInt8) async throws {
  let states = try await door.subscribe(to: .doorState, in: .door)
  for try await state in states where try DoorState(decoding: state.value) == .open { break }
  try await door.write([code], to: .doorCode, in: .door)
  try await door.write([1], to: .doorLock, in: .door)
}
