import OtaflashGATT

/// Reports each change of a door while the task runs, over as many connections as needed.
public func followDoor(
  _ door: Peripheral, reporting change: @escaping @Sendable (DoorState) -> Void
) async throws {
  try await door.keepingConnected(.exponential(attempts: .max)) { client in
    let state = try await client.characteristic(.doorState, in: .door)
    for try await value in try await client.subscribe(to: state) {
      change(try DoorState(decoding: value.value))
    }
  }
}
