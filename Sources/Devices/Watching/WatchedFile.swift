import OtaflashGATT

/// A file whose changes `BuildWatch` observes: a file of the system, or a script of a test.
package protocol WatchedFile: Sendable {
  /// Returns the current state of the file; `nil` if there is no such file.
  func stamp() -> FileStamp?

  /// Returns the bytes of the file; `nil` if the file cannot be read.
  func content() -> [UInt8]?

  /// Returns whether a process may still write the file.
  func isOpenForWriting() -> Bool

  /// Returns the time since the file received this stamp.
  func age(of stamp: FileStamp) -> Duration

  /// Waits until the file may have changed, at most for `limit`; returns `false` if the task was
  /// cancelled.
  func waitForChange(atMost limit: Duration) async -> Bool
}

/// The values by which a change of a file is detected without reading it.
package struct FileStamp: Equatable, Sendable {
  package var device: UInt64
  package var inode: UInt64
  package var size: Int
  /// The time of the last change of content, name or permissions, in nanoseconds since 1970.
  package var changed: Int

  package init(device: UInt64 = 0, inode: UInt64 = 0, size: Int, changed: Int) {
    self.device = device
    self.inode = inode
    self.size = size
    self.changed = changed
  }
}
