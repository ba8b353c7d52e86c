import Foundation
import Glibc
import OtaflashBlueZ
import Testing

@testable import OtaflashState

@Suite("Device lock")
struct DeviceLockTests {
  /// A device that no other test or program uses.
  private static func identity(_ path: String) -> DeviceIdentity {
    DeviceIdentity(path: path, device: "unix:" + path)
  }

  @Test("has one holder at a time and names it")
  func exclusive() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let device = Self.identity(try temporary.file("device", []))
    let lock = try DeviceLock(device)
    #expect(throws: StateFault.deviceBusy(device: device.device, holder: getpid())) {
      try DeviceLock(device).release()
    }
    try DeviceLock(Self.identity(try temporary.file("other", []))).release()
    lock.release()
    try DeviceLock(device).release()
  }

  /// A child process has copies of all descriptors until it executes its program.
  @Test("a released lock is free when the last copy of its descriptor is closed")
  func releasedWithCopy() throws {
    let name = "otaflash/test/\(UUID())"
    let lock = try NameLock(name)
    let copy = fcntl(lock.socket.number, F_DUPFD_CLOEXEC, 0)
    #expect(copy >= 0 && NameLock.isHeld(name))
    lock.release()
    #expect(!NameLock.isHeld(name))
    DispatchQueue.global().async { close(copy) }
    let next = try NameLock(name)
    #expect(NameLock.isHeld(name))
    next.release()
  }

  @Test("every spelling of a device's path refers to the same lock")
  func spellings() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let path = try temporary.file("two.sock", [])
    let folder = temporary.path
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/link", withDestinationPath: path)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/folder", withDestinationPath: folder)
    try #require(link(path, folder + "/hard") == 0)
    let lock = try DeviceLock(Self.identity(path))
    for other in [
      folder + "//two.sock", folder + "/./two.sock", folder + "/link", folder + "/folder/two.sock",
      folder + "/hard",
    ] {
      #expect(throws: StateFault.deviceBusy(device: "unix:" + other, holder: getpid())) {
        try DeviceLock(Self.identity(other)).release()
      }
    }
    lock.release()
  }

  @Test("a restarted device with a new file at the same path has the same lock")
  func restarted() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let path = try temporary.file("device", [])
    let lock = try DeviceLock(Self.identity(path))
    // The old file still exists, so the new file has a different inode number.
    try FileManager.default.moveItem(atPath: path, toPath: temporary.path + "/former")
    _ = try temporary.file("device", [])
    #expect(throws: StateFault.self) { try DeviceLock(Self.identity(path)).release() }
    lock.release()
  }

  @Test("every type and spelling of an address refers to the same device")
  func addresses() throws {
    let texts = ["D7:31:00:5A:C3:01", "d7:31:00:5a:c3:01", "D7:31:00:5A:C3:01/public"]
    let addresses = try texts.map { try #require(BluetoothAddress($0)) }
    let lock = try DeviceLock(DeviceIdentity(addresses[0]))
    for address in addresses {
      #expect(throws: StateFault.self) { try DeviceLock(DeviceIdentity(address)).release() }
    }
    let other = try #require(BluetoothAddress("D7:31:00:5A:C3:02"))
    try DeviceLock(DeviceIdentity(other)).release()
    lock.release()
  }

  @Test("a refusal leaves no descriptor open")
  func noLeak() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let device = Self.identity(try temporary.file("device", []))
    let lock = try DeviceLock(device)
    // Other tests also open descriptors at the same time, but fewer than half of this number.
    let refusals = 1000
    let before = try openDescriptors()
    for _ in 0..<refusals {
      #expect(throws: StateFault.self) { try DeviceLock(device).release() }
    }
    #expect(try openDescriptors() < before + refusals / 2)
    lock.release()
    try DeviceLock(device).release()
  }

  private func openDescriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }
}
