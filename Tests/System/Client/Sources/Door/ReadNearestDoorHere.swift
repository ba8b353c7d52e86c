import OtaflashBlueZ
import OtaflashGATT

/// Reads the state of the nearest door, with the first Bluetooth adapter of the computer.
public func readNearestDoorHere() async throws -> DoorState {
  try await withTaskExecutorPreference(EventLoop.shared) {
    try await readNearestDoor(from: LocalAdapter(), on: EventLoopClock())
  }
}
