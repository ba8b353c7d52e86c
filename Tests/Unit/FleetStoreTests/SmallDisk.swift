#if Fleet
import Foundation
import Glibc

/// A file system of limited size in memory, which requires the permission to mount.
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

  /// Mounts the file system read-only. Processes that other tests start have copies of the open
  /// files until their `exec`; this function waits for them.
  func makeReadOnly() throws {
    let flags = UInt(MS_REMOUNT | MS_RDONLY)
    for _ in 0..<Self.attemptsMaximum {
      if Glibc.mount("none", path, "tmpfs", flags, "") == 0 { return }
      guard errno == EBUSY else { throw Refused() }
      poll(nil, 0, Self.pauseMilliseconds)
    }
    throw Refused()
  }

  private static let attemptsMaximum = 1000
  private static let pauseMilliseconds: Int32 = 5

  /// Unmounts the file system; returns whether it was removed.
  func unmount() -> Bool { umount2(path, Int32(MNT_DETACH)) == 0 && rmdir(path) == 0 }
}
#endif
