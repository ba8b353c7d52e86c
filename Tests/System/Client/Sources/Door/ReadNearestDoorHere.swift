import OtaflashBlueZ
import OtaflashGATT

/// Reads the state of a door in range, with the first Bluetooth adapter of the computer.
public func readNearestDoorHere() async throws -> DoorState {
  try await withTaskExecutorPreference(EventLoop.shared) {
    try await readNearestDoor(from: LocalAdapter(), on: EventLoopClock())
  }
}
