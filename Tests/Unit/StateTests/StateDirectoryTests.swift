import FoundationEssentials
import Testing

@testable import OtaflashState

@Suite("State directory")
struct StateDirectoryTests {
  @Test("follows the XDG variables and falls back to the home directory")
  func locate() throws {
    let directory = try StateDirectory.locate(environment: [
      "XDG_STATE_HOME": "/s", "HOME": "/h",
    ])
    #expect(directory.path == "/s/otaflash")
    let fallback = try StateDirectory.locate(environment: ["HOME": "/h", "XDG_STATE_HOME": ""])
    #expect(fallback.path == "/h/.local/state/otaflash")
    let relative = try StateDirectory.locate(environment: [
      "HOME": "/h", "XDG_STATE_HOME": "s",
    ])
    #expect(relative == fallback)
    #expect(throws: StateFault.noPlace) { try StateDirectory.locate(environment: ["HOME": "h"]) }
  }

  @Test("is created only for the user, and creating it again succeeds")
  func create() throws {
    let temporary = try TemporaryDirectory()
    let directory = try temporary.state()
    try directory.create()
    for path in [
      directory.path, directory.journalPath, directory.bondsPath, directory.imagesPath,
    ] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == 0o700, "\(path)")
    }
  }

  @Test("a file at the path of the directory is named")
  func fileInTheWay() throws {
    let temporary = try TemporaryDirectory()
    let file = try temporary.file("state", [])
    let directory = try StateDirectory.locate(environment: ["XDG_STATE_HOME": file])
    #expect(throws: StateFault.notADirectory(path: file)) { try directory.create() }
  }

  @Test("refusals of the kernel have distinct errors")
  func faults() {
    for (errno, fault) in [
      (FileErrno.noSpace, StateFault.diskFull(path: "/p")),
      (.quotaExceeded, .diskFull(path: "/p")),
      (.accessDenied, .permissionDenied(path: "/p")),
      (.readOnlyFileSystem, .permissionDenied(path: "/p")),
      (.notADirectory, .notADirectory(path: "/p")),
      (.nameTooLong, .impossiblePlace(path: "/p", .nameTooLong)),
      (FileErrno(rawValue: 5), .system(.write, path: "/p", FileErrno(rawValue: 5))),
    ] {
      #expect(StateFault(.write, path: "/p", errno) == fault)
    }
    #expect(
      StateFault(.write, path: "/p", FileErrno(rawValue: 5)).description
        == "write /p: Input/output error")
  }

  @Test("a failure of mkdir is reported with the path and the cause")
  func noDirectoryPossible() {
    #expect(throws: StateFault.impossiblePlace(path: "/proc/self/otaflash", .noEntry)) {
      try StateDirectory.locate(environment: ["XDG_STATE_HOME": "/proc/self"]).create()
    }
  }
}

@Suite("Device file names")
struct DeviceFileNameTests {
  @Test("escape the characters that a file name must not contain")
  func escaping() {
    #expect(DeviceFileName.escaped("C0:FF:EE:00:00:01") == "C0%3AFF%3AEE%3A00%3A00%3A01")
    #expect(DeviceFileName.escaped("unix:/run/door") == "unix%3A%2Frun%2Fdoor")
    #expect(DeviceFileName.escaped("..") == "%2E.")
    #expect(DeviceFileName.escaped("a.b~%") == "a.b%7E%25")
    #expect(DeviceFileName.escaped("é\n") == "%C3%A9%0A")
    #expect(DeviceFileName.escaped("") == "%")
  }

  @Test("are different for different devices, and never too long")
  func injective() {
    let long = String(repeating: "/", count: 108)
    let devices = ["", "%", "/", "%2F", ".", "%2E", "a", "A", long, long + "/", long + "a"]
    #expect(Set(devices.map(DeviceFileName.escaped)).count == devices.count)
    #expect(
      devices.allSatisfy { DeviceFileName.escaped($0).utf8.count < 255 - ".json.4194304.new".count }
    )
  }
}
