#if Fleet
import Foundation
import Glibc

/// A file system of a few kilobytes, for who may mount one.
struct SmallDisk {
  struct Refused: Error {}

  let path: String

  static func mount(bytes: Int) throws -> SmallDisk {
    let url = FileManager.default.temporaryDirectory.appending(path: "disk-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    guard Glibc.mount("none", url.path, "tmpfs", 0, "size=\(bytes)") == 0 else {
      try FileManager.default.removeItem(at: url)
      throw Refused()
    }
    return SmallDisk(path: url.path)
  }

  func makeReadOnly() throws {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    guard Glibc.mount("none", path, "tmpfs", flags, "") == 0 else { throw Refused() }
  }

  /// Whether it is gone.
  func unmount() -> Bool { umount2(path, Int32(MNT_DETACH)) == 0 && rmdir(path) == 0 }
}
#endif
