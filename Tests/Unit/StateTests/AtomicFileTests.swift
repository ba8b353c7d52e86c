import Glibc
import Synchronization
import Testing

@testable import OtaflashState

@Suite("Atomic file")
struct AtomicFileTests {
  @Test("a missing file has no content; written content is read back")
  func roundTrip() throws {
    let temporary = try TemporaryDirectory()
    let file = AtomicFile(path: temporary.path + "/a", limit: 3)
    #expect(try file.read() == nil)
    try file.replace(with: [1, 2, 3])
    #expect(try file.read() == [1, 2, 3])
    try file.replace(with: [4])
    #expect(try file.read() == [4])
    try file.remove()
    try file.remove()
    #expect(try file.read() == nil)
    #expect(try names(in: temporary.path) == [])
  }

  @Test("a full disk keeps the former content and leaves no temporary file", arguments: [0, 1])
  func fullDisk(capacity: Int) throws {
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a", [7])
    let file = AtomicFile(path: path, limit: 10, writing: .full(after: capacity))
    #expect(throws: StateFault.diskFull(path: path)) { try file.replace(with: [1, 2]) }
    #expect(try file.read() == [7])
    #expect(try names(in: temporary.path) == ["a"])
  }

  @Test("a disk that reports only at the flush that it is full has the same effect")
  func fullAtFlush() throws {
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a", [7])
    let writing = FileWriting(
      write: FileWriting.system.write,
      flush: { _ in
        errno = EDQUOT
        return -1
      })
    let file = AtomicFile(path: path, limit: 10, writing: writing)
    #expect(throws: StateFault.diskFull(path: path)) { try file.replace(with: [1]) }
    #expect(try file.read() == [7])
    #expect(try names(in: temporary.path) == ["a"])
  }

  @Test("short and interrupted writes are continued")
  func shortWrites() throws {
    let temporary = try TemporaryDirectory()
    let calls = Mutex(0)
    let writing = FileWriting(
      write: { descriptor, bytes in
        let call = calls.withLock { count in
          count += 1
          return count
        }
        if call.isMultiple(of: 2) {
          errno = EINTR
          return -1
        }
        return FileWriting.system.write(
          descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(1)))
      }, flush: FileWriting.system.flush)
    let file = AtomicFile(path: temporary.path + "/a", limit: 10, writing: writing)
    try file.replace(with: Array(0..<10))
    #expect(try file.read() == Array(0..<10))
    #expect(calls.withLock { $0 } == 19)
  }

  @Test("a file that exceeds its limit is refused before its end is read")
  func limit() throws {
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a", [1, 2, 3, 4])
    #expect(throws: StateFault.tooLarge(path: path, limit: 3)) {
      try AtomicFile(path: path, limit: 3).read()
    }
    #expect(throws: StateFault.notAFile(path: "/dev/zero")) {
      try AtomicFile(path: "/dev/zero", limit: 1 << 17).read()
    }
  }

  @Test("if the directory is missing, the fault names the file")
  func noDirectory() throws {
    let temporary = try TemporaryDirectory()
    let path = temporary.path + "/none/a"
    #expect(throws: StateFault.system(.open, path: path, .noEntry)) {
      try AtomicFile(path: path, limit: 3).replace(with: [])
    }
  }
}
