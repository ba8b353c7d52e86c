import FoundationEssentials
import Glibc
import OtaflashFirmware
import Testing

@testable import OtaflashState

@Suite("Image files")
struct ImageFileTests {
  private static let described: [UInt8] =
    ImageDescriptor(version: FirmwareVersion(1, 3, 0), hardware: HardwareID(0xA001)).encoded

  @Test("are read with their sidecar, and the command line has priority")
  func load() throws {
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a.bin", [1, 2, 3])
    #expect(try ImageFile.load(path).version == nil)
    _ = try temporary.file(
      "a.bin.json", Array(#"{"version":"1.5.0","hardware":"0x0000A001"}"#.utf8))
    let image = try ImageFile.load(path)
    #expect(image.name == "a.bin")
    #expect(image.bytes == [1, 2, 3])
    #expect(image.version == FirmwareVersion(1, 5, 0))
    #expect(image.hardware == HardwareID(0xA001))
    let overridden = try ImageFile.load(
      path, overrides: ImageIdentity(version: FirmwareVersion(9, 0, 0)))
    #expect(overridden.version == FirmwareVersion(9, 0, 0))
  }

  @Test("may have a name that is too long for the name of a sidecar")
  func longName() throws {
    let temporary = try TemporaryDirectory()
    defer { withExtendedLifetime(temporary) {} }
    let path = try temporary.file(String(repeating: "b", count: 251) + ".bin", [1, 2])
    #expect(try ImageFile.load(path).bytes == [1, 2])
  }

  @Test("a package is read completely, and is not a single image")
  func package() throws {
    let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "FirmwareTests/Fixtures/DeviceManager")
    let path = fixtures.appending(path: "two-images.zip").path
    let package = try ImageFile.loadPackage(path)
    #expect(package.kind == .deviceManager)
    #expect(package.name == "two-images.zip")
    #expect(package.parts.count == 2)
    #expect(throws: ImageFileFault.malformed(path: path, .severalImages(2))) {
      try ImageFile.load(path)
    }
    let one = fixtures.appending(path: "one-image.zip").path
    #expect(try ImageFile.load(one) == ImageFile.loadPackage(one).parts[0])
  }

  @Test("a path without an image file causes an error with the reason")
  func unreadable() throws {
    let temporary = try TemporaryDirectory()
    let missing = temporary.path + "/none.bin"
    #expect(throws: ImageFileFault.missing(path: missing)) { try ImageFile.load(missing) }
    let directory = temporary.path
    #expect(throws: ImageFileFault.isDirectory(path: directory)) { try ImageFile.load(directory) }
    let file = try temporary.file("empty.bin", [])
    #expect(throws: ImageFileFault.malformed(path: file, .empty)) { try ImageFile.load(file) }
    #expect(throws: ImageFileFault.missing(path: file + "/x")) { try ImageFile.load(file + "/x") }
  }

  @Test("reading stops at the limit, also for an endless file")
  func limit() throws {
    #expect(throws: ImageFileFault.malformed(path: "/dev/zero", .tooLarge(limit: 100_000))) {
      try ImageFile.load("/dev/zero", limit: 100_000)
    }
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a.bin", [UInt8](repeating: 1, count: 100_000))
    #expect(try ImageFile.load(path, limit: 100_000).bytes.count == 100_000)
    #expect(throws: ImageFileFault.malformed(path: path, .tooLarge(limit: 99_999))) {
      try ImageFile.load(path, limit: 99_999)
    }
  }

  @Test("a pipe is read to its end")
  func pipe() throws {
    var ends: [Int32] = [0, 0]
    #expect(Glibc.pipe(&ends) == 0)
    #expect(Glibc.write(ends[1], Self.described, 32) == 32)
    close(ends[1])
    #expect(try ImageFile.read(descriptor: ends[0], limit: 100) == Self.described)
    close(ends[0])
  }

  @Test(
    "a sidecar with unknown content is refused",
    arguments: [
      ("{", .notAnObjectOfStrings),
      ("[]", .notAnObjectOfStrings),
      (#"{"version":1}"#, .notAnObjectOfStrings),
      (#"{"version":"1.0.0","board":"x"}"#, .unknownKey("board")),
      (#"{"version":"1.0"}"#, .malformedVersion("1.0")),
      (#"{"hardware":"A001"}"#, .malformedHardware("A001")),
      ("{}", .saysNothing),
      (String(repeating: " ", count: 4097), .tooLarge(limit: 4096)),
    ] as [(String, SidecarFault)])
  func sidecarFaults(text: String, fault: SidecarFault) throws {
    let temporary = try TemporaryDirectory()
    let path = try temporary.file("a.bin", Self.described)
    let sidecar = try temporary.file("a.bin.json", Array(text.utf8))
    #expect(throws: ImageFileFault.sidecar(path: sidecar, fault)) { try ImageFile.load(path) }
  }
}
