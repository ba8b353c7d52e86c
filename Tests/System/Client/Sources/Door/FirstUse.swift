import OtaflashBlueZ
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

private let doorService: BluetoothUUID = "8d5e0001-1c6b-4f1e-9b6a-2f0c7d3b5a10"
private let doorState: BluetoothUUID = "8d5e0002-1c6b-4f1e-9b6a-2f0c7d3b5a10"

/// Updates a door in range to the firmware in a file.
public func updateNearestDoor(with file: String) async throws -> UpdateResult {
  let update = FirmwareUpdate(package: try ImageFile.loadPackage(file)) { event in print(event) }
  let clock = EventLoopClock()
  let nearby = AdvertisementFilter(name: /^Door/, rssiMinimum: -70)
  let dialer = Dialer(to: nearby, from: LocalAdapter(), within: .seconds(10), on: clock)
  return try await withTaskExecutorPreference(EventLoop.shared) {
    try await withPeripheral(dialer, clock: clock) { door in
      print("it is \(try await door.read(doorState, in: doorService) == [1] ? "open" : "closed")")
      return try await door.perform(update.command)
    }
  }
}
