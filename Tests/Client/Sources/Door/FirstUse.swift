import OtaflashBlueZ
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

/// Brings the firmware in a file onto the nearest door.
public func updateNearestDoor(with file: String) async throws -> UpdateResult {
  let update = FirmwareUpdate(package: try ImageFile.loadPackage(file)) { event in print(event) }
  let clock = EventLoopClock()
  let nearby = AdvertisementFilter(name: /^Door/, rssiMinimum: -70)
  let dialer = Dialer(to: nearby, from: LocalAdapter(), within: .seconds(10), on: clock)
  return try await withTaskExecutorPreference(EventLoop.shared) {
    try await withPeripheral(dialer, clock: clock) { door in
      print("it is \(try await door.read(.doorState, in: .door) == [1] ? "open" : "closed")")
      return try await door.perform(update.command)
    }
  }
}
