import FoundationEssentials
import Glibc
import Testing

@testable import OtaflashState

/// A separate directory for one test, which is removed at the end of the test.
struct TemporaryDirectory: ~Copyable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "otaflash-\(UUID())").path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      Issue.record("\(path) was not removed: \(error)")
    }
  }

  /// Creates a state directory in this directory, and returns it.
  func state() throws -> StateDirectory {
    let directory = try StateDirectory.locate(
      environment: ["XDG_STATE_HOME": path + "/state"])
    try directory.create()
    return directory
  }

  /// Writes a file and returns its path.
  func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let file = path + "/" + name
    try Data(bytes).write(to: URL(filePath: file))
    return file
  }
}

func content(_ path: String) throws -> String {
  String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
}

func names(in path: String) throws -> [String] {
  try FileManager.default.contentsOfDirectory(atPath: path).sorted()
}

extension FileWriting {
  /// A disk that accepts every write of at most `capacity` bytes, and refuses every longer write
  /// because it is full.
  static func full(after capacity: Int) -> FileWriting {
    FileWriting(
      write: { descriptor, bytes in
        if bytes.count <= capacity { return FileWriting.system.write(descriptor, bytes) }
        errno = ENOSPC
        return -1
      }, flush: FileWriting.system.flush)
  }
}
