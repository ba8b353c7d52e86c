import Foundation
import OtaflashState
import Testing

/// State that persists between runs, and that an app may share with the command line.
@Suite struct StateTests {
  @Test func aDeviceIsLockedAndItsUnfinishedUpdateRemembered() throws {
    let home = FileManager.default.temporaryDirectory.appending(path: "door-\(UUID())").path()
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: home) } }
    let directory = try StateDirectory.locate(environment: ["HOME": home])
    try directory.create()
    let door = DeviceIdentity(path: home, device: "door")
    let lock = try DeviceLock(door)
    #expect(throws: StateFault.self) { try DeviceLock(door).release() }
    lock.release()

    let journal = UpdateJournal(device: home, in: directory)
    let entry = UpdateJournal.Entry(
      device: home, imageName: "app.hex", imageSize: 40_000, imageCRC32: 1, acknowledged: 1024,
      started: 0, updated: 1)
    try journal.write(entry)
    #expect(try journal.read().content == entry)
    try journal.remove()
    #expect(try journal.read().content == nil)
  }
}
