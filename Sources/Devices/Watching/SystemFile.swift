import Glibc
import OtaflashBlueZ
import OtaflashConsole
import OtaflashFirmware

/// A regular file of the system, observed through the kernel.
package struct SystemFile: WatchedFile {
  private let path: String
  /// `nil` if the kernel has no resources for notifications; changes are then detected only by
  /// comparison at intervals.
  private let changes: FileChanges?

  package init(path: String) {
    self.path = path
    changes = FileChanges(path: path)
  }

  package func stamp() -> FileStamp? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return FileStamp(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int(status.st_size),
      changed: Int(status.st_ctim.tv_sec) * 1_000_000_000 + Int(status.st_ctim.tv_nsec))
  }

  package func content() -> [UInt8]? {
    do throws(FileFault) {
      return try InputFile(path: path, limit: FirmwareImage.defaultLimit).read()
    } catch {
      return nil
    }
  }

  package func isOpenForWriting() -> Bool { FileChanges.isOpenForWriting(path) }

  /// Returns the time since the last change. The time is never negative, even if the wall clock was
  /// set back.
  package func age(of stamp: FileStamp) -> Duration {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return .nanoseconds(max(Int(now.tv_sec) * 1_000_000_000 + now.tv_nsec - stamp.changed, 0))
  }

  package func waitForChange(atMost limit: Duration) async -> Bool {
    guard let changes else { return await Pause.sleep(for: limit) }
    return await changes.wait(atMost: limit) != .cancelled
  }
}
