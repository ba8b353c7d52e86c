import Glibc
import Testing

@testable import OtaflashFleet

@Suite("Device lock")
struct DeviceLockTests {
  @Test("is held by one at a time and names the holder")
  func exclusive() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let lock = try DeviceLock(device: "sim:", in: directory)
    #expect(throws: StateFault.deviceBusy(device: "sim:", holder: getpid())) {
      try DeviceLock(device: "sim:", in: directory).release()
    }
    try DeviceLock(device: "sim:other", in: directory).release()
    lock.release()
    try DeviceLock(device: "sim:", in: directory).release()
  }

  @Test("a shorter pid replaces a longer one, a half-written one is unknown")
  func holder() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let path = directory.lockPath + "/a.lock"
    try AtomicFile(path: path, limit: 100).replace(with: Array("123456789012345\n".utf8))
    let lock = try DeviceLock(device: "a", in: directory)
    #expect(try content(path) == "\(getpid())\n")
    #expect(truncate(path, 1) == 0)
    #expect(throws: StateFault.deviceBusy(device: "a", holder: nil)) {
      try DeviceLock(device: "a", in: directory).release()
    }
    lock.release()
  }

  @Test("a refusal leaves no file open")
  func noLeak() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    let lock = try DeviceLock(device: "a", in: directory)
    let path = directory.lockPath + "/a.lock"
    for _ in 0..<10 {
      #expect(throws: StateFault.self) { try DeviceLock(device: "a", in: directory).release() }
    }
    #expect(try openCount(path) == 1)
    lock.release()
    #expect(try openCount(path) == 0)
  }

  /// How many descriptors of this process lead to a file.
  private func openCount(_ path: String) throws -> Int {
    try names(in: "/proc/self/fd").count { number in
      var target = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(number)", &target, target.count)
      return count > 0
        && String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) == path
    }
  }
}
