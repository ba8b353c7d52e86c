import Foundation
import OtaflashSimulation
import Testing

@Suite struct SimulatedFlashTests {
  private func makeFlash(seed: UInt64 = 1, medium: (any FlashMedium)? = nil) throws
    -> SimulatedFlash
  {
    try SimulatedFlash(
      geometry: FlashGeometry(size: 16_384), medium: medium ?? FlashMemory(size: 16_384),
      random: SeededRandom(seed: seed))
  }

  @Test func aFullDiskIsReported() {
    let fault = FlashFault.medium(operation: "pwrite", errno: ENOSPC)
    #expect("\(fault)" == "pwrite failed: the disk is full (errno 28)")
    #expect("\(FlashFault.medium(operation: "pread", errno: EIO))" == "pread failed (errno 5)")
  }

  @Test func writtenBytesAreReadBack() throws {
    let flash = try makeFlash()
    try flash.perform(.write([1, 2, 3, 4], at: 4092))
    #expect(try flash.read(4088..<4100) == [255, 255, 255, 255, 1, 2, 3, 4, 255, 255, 255, 255])
    try flash.perform(.erase(page: 0))
    #expect(try flash.read(4092..<4096) == [255, 255, 255, 255])
    #expect(flash.counts.erases == 1 && flash.counts.bytesWritten == 4)
  }

  @Test func aByteIsWrittenOncePerEraseEvenWith0xFF() throws {
    let flash = try makeFlash()
    try flash.perform(.write([255, 255, 255, 255], at: 8))
    #expect(throws: FlashFault.notErased(address: 8)) {
      try flash.perform(.write([0, 0, 0, 0, 0, 0, 0, 0], at: 4))
    }
    #expect(try flash.read(4..<8) == [255, 255, 255, 255])
    try flash.perform(.erase(page: 0))
    try flash.perform(.write([0, 0, 0, 0], at: 8))
  }

  @Test(arguments: [
    (
      FlashOperation.write([0, 0, 0, 0], at: 2),
      FlashFault.misaligned(address: 2, bytes: 4, alignment: 4)
    ),
    (.write([0, 0], at: 4), .misaligned(address: 4, bytes: 2, alignment: 4)),
    (
      .write([0, 0, 0, 0, 0, 0, 0, 0], at: 16_380),
      .outOfBounds(address: 16_380, bytes: 8, size: 16_384)
    ),
    (.erase(page: 100), .notAPage(address: 100, pageSize: 4096)),
    (.erase(page: 16_384), .outOfBounds(address: 16_384, bytes: 4096, size: 16_384)),
    (.erase(page: -4096), .outOfBounds(address: -4096, bytes: 4096, size: 16_384)),
  ])
  func toleratedOperationsAreRefused(operation: FlashOperation, fault: FlashFault) throws {
    let flash = try makeFlash()
    #expect(throws: fault) { try flash.perform(operation) }
  }

  @Test func aTornWriteIsAPrefixThenNoiseThenErased() throws {
    let data = [UInt8](repeating: 0x5A, count: 1024)
    for seed in 0..<50 as Range<UInt64> {
      let flash = try makeFlash(seed: seed)
      try flash.tear(.write(data, at: 0))
      let torn = try flash.read(0..<1024)
      let done = torn.prefix { $0 == 0x5A }.count
      #expect(torn.dropFirst(done + 16).allSatisfy { $0 == 0xFF })
      #expect(torn.allSatisfy { $0 & 0x5A == 0x5A })
    }
  }

  @Test func aTornEraseMustBeErasedAgain() throws {
    let flash = try makeFlash()
    try flash.perform(.write([0, 0, 0, 0], at: 0))
    try flash.tear(.erase(page: 0))
    #expect(throws: FlashFault.notErased(address: 100)) {
      try flash.perform(.write([0, 0, 0, 0], at: 100))
    }
    try flash.perform(.erase(page: 0))
    try flash.perform(.write([0, 0, 0, 0], at: 100))
  }

  @Test func aWeakPageHasABitErrorWhenReadBack() throws {
    let flash = try makeFlash()
    flash.weaken(pageAt: 4096)
    try flash.perform(.write([1, 2, 3, 4], at: 4096))
    #expect(try flash.read(4096..<4100) == [0x11, 2, 3, 4])
  }

  @Test func timesScaleWithTheWrite() {
    let geometry = FlashGeometry(size: 16_384)
    #expect(geometry.duration(of: .erase(page: 0)) == .milliseconds(85))
    #expect(
      geometry.duration(of: .write([UInt8](repeating: 0, count: 1024), at: 0)) == .milliseconds(10))
  }

  @Test func aFileKeepsTheWrittenBytes() throws {
    let path = "/tmp/otaflash-flash-test-\(getpid())"
    defer { unlink(path) }
    do {
      let flash = try makeFlash(medium: FlashFile(path: path, size: 16_384))
      try flash.perform(.write([1, 2, 3, 4], at: 4096))
      #expect(throws: FlashFault.medium(operation: "flock", errno: EWOULDBLOCK)) {
        try FlashFile(path: path, size: 16_384)
      }
    }
    let flash = try makeFlash(medium: FlashFile(path: path, size: 16_384))
    #expect(try flash.read(4096..<4100) == [1, 2, 3, 4])
    #expect(throws: FlashFault.notErased(address: 4096)) {
      try flash.perform(.write([0, 0, 0, 0], at: 4096))
    }
  }

  /// A process that terminates while it creates a flash leaves an incomplete file with the suffix
  /// `.new`. The next process replaces this file.
  @Test func anIncompleteFileIsCreatedAgain() throws {
    let path = "/tmp/otaflash-flash-part-test-\(getpid())"
    defer { unlink(path) }
    try FlashFile(path: path + ".new", size: 4096).write([0], at: 7)
    let whole = try FlashFile(path: path, size: 8192)
    #expect(try whole.read(0..<8192).allSatisfy { $0 == 0xFF })
    #expect(access(path + ".new", F_OK) == -1)
    withExtendedLifetime(whole) {
      _ = #expect(throws: FlashFault.medium(operation: "flock", errno: EWOULDBLOCK)) {
        try FlashFile(path: path, size: 8192)
      }
    }
  }

  /// Until a started process executes its program, it has a copy of each descriptor. The copy must
  /// not keep the file locked.
  @Test func aCopyOfTheDescriptorKeepsNoLock() throws {
    let path = "/tmp/otaflash-flash-copy-test-\(getpid())"
    defer { unlink(path) }
    var flash: FlashFile? = try FlashFile(path: path, size: 4096)
    let files = FileManager.default
    let descriptor = try files.contentsOfDirectory(atPath: "/proc/self/fd")
      .first { (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == path }
    let copy = dup(try #require(descriptor.flatMap { Int32($0) }))
    defer { close(copy) }
    withExtendedLifetime(flash) {}
    flash = nil
    #expect(try FlashFile(path: path, size: 4096).size == 4096)
  }

  @Test func anEmptyFileBecomesAFlash() throws {
    let path = "/tmp/otaflash-flash-empty-test-\(getpid())"
    defer { unlink(path) }
    close(open(path, O_WRONLY | O_CREAT, 0o600))
    #expect(try FlashFile(path: path, size: 4096).read(0..<4) == [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try FlashFile(path: path, size: 4096).size == 4096)
  }

  @Test func aFileOfAnotherSizeIsRefused() throws {
    let path = "/tmp/otaflash-flash-size-test-\(getpid())"
    defer { unlink(path) }
    // A file with an erased flash also belongs to a device, so its size must match.
    _ = try FlashFile(path: path, size: 4096)
    for size in [8192, 2048] {
      #expect(throws: FlashFault.medium(operation: "open", errno: EFBIG)) {
        try FlashFile(path: path, size: size)
      }
    }
    #expect(throws: FlashFault.medium(operation: "open", errno: ENOTDIR)) {
      try FlashFile(path: path + "/flash", size: 8192)
    }
  }
}
