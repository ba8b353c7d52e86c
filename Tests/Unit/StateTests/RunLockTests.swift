import Foundation
import Glibc
import Testing

@testable import OtaflashState

@Suite("Run lock")
struct RunLockTests {
  @Test("has one holder at a time and names it")
  func exclusive() throws {
    let temporary = try TemporaryDirectory()
    // If the directory was removed while its store is locked, another store could receive its inode
    // and therefore its lock.
    defer { withExtendedLifetime(temporary) {} }
    let store = try temporary.file("fleet.sqlite", [])
    let lock = try RunLock(store: store)
    #expect(throws: RunLockFault.held(store: store, by: getpid())) {
      try RunLock(store: store).release()
    }
    try RunLock(store: try temporary.file("other.sqlite", [])).release()
    lock.release()
    try RunLock(store: store).release()
  }

  @Test("applies to a store that is created after the lock is held")
  func beforeTheFile() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let store = temporary.path + "/fleet.sqlite"
    let lock = try RunLock(store: store)
    let held = RunLockFault.held(store: store, by: getpid())
    #expect(throws: held) { try RunLock(store: store).release() }
    _ = try temporary.file("fleet.sqlite", [])
    #expect(throws: held) { try RunLock(store: store).release() }
    lock.release()
  }

  @Test("is the same for every spelling of the path")
  func spellings() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let store = try temporary.file("fleet.sqlite", [])
    try FileManager.default.createSymbolicLink(
      atPath: temporary.path + "/link", withDestinationPath: store)
    let lock = try RunLock(store: store)
    for other in ["//fleet.sqlite", "/./fleet.sqlite", "/link"].map({ temporary.path + $0 }) {
      #expect(throws: RunLockFault.held(store: other, by: getpid())) {
        try RunLock(store: other).release()
      }
    }
    lock.release()
  }

  @Test("is independent of the lock of a device")
  func kinds() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let path = try temporary.file("both", [])
    let device = try DeviceLock(DeviceIdentity(path: path, device: path))
    try RunLock(store: path).release()
    device.release()
  }

  @Test("names its holder")
  func words() {
    #expect(
      RunLockFault.held(store: "/s", by: 12).description
        == "process 12 is working on the runs in /s")
    #expect(
      RunLockFault.held(store: "/s", by: nil).description
        == "another process is working on the runs in /s")
    #expect(RunLockFault.state(.noPlace).description == StateFault.noPlace.description)
  }
}
