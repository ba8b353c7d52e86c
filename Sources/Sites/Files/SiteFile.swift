#if Sites
import Glibc

/// The reason why a file or folder cannot be used.
package struct SiteFileFault: Error, Hashable, Sendable, CustomStringConvertible {
  package let path: String
  package let reason: String

  init(_ path: String, _ reason: String) {
    self.path = path
    self.reason = reason
  }

  /// - Parameter errno: the error number; by default the last error of the current thread.
  init(_ path: String, errno: Int32 = errno) {
    self.init(path, String(cString: strerror(errno)))
  }

  /// The fault, as a clause.
  package var description: String { "\(path): \(reason)" }
}

/// The lock of a folder, for changes by one process at a time.
struct FolderLock: ~Copyable {
  private let descriptor: Int32

  /// Creates the folder if it does not exist, and locks the folder without waiting.
  init(_ path: String) throws(SiteFileFault) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SiteFileFault(path) }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SiteFileFault(path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let isLocked = errno == EWOULDBLOCK
      close(descriptor)
      throw isLocked
        ? SiteFileFault(path, "another process is changing it; run the command again")
        : SiteFileFault(path)
    }
    self.descriptor = descriptor
  }

  deinit {
    // A process that was just started may have inherited the descriptor, and therefore holds the
    // lock.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  consuming func release() {}
}

/// Files that are written completely or not at all.
package enum SiteFile {
  /// Creates a folder that only its owner can use. An existing folder is kept.
  package static func makeFolder(_ path: String) throws(SiteFileFault) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw SiteFileFault(path) }
  }

  /// Reads a file; returns `nil` if the file does not exist.
  ///
  /// - Parameter isSecret: whether only the owner may have access to the file.
  package static func read(
    _ path: String, atMost limit: Int, isSecret: Bool = false
  ) throws(SiteFileFault) -> [UInt8]? {
    // O_NONBLOCK prevents a wait if the path is the path of a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw SiteFileFault(path)
    }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw SiteFileFault(path) }
    guard facts.st_mode & S_IFMT == S_IFREG else { throw SiteFileFault(path, "not a file") }
    // root can permit one additional user to read a file, as systemd does for a credential of a
    // service. The access control list for this permission appears as a permission of the group.
    let exposed: mode_t = facts.st_uid == 0 && geteuid() != 0 ? 0o037 : 0o077
    guard !isSecret || facts.st_mode & exposed == 0 else {
      throw SiteFileFault(path, "other users can read it; change its mode to 0600")
    }
    guard facts.st_size <= limit else {
      throw SiteFileFault(path, "larger than \(limit) bytes")
    }
    return try read(descriptor, path, Int(facts.st_size))
  }

  private static func read(
    _ descriptor: Int32, _ path: String, _ size: Int
  ) throws(SiteFileFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    var start = 0
    while start < size {
      let count = bytes.withUnsafeMutableBytes {
        Glibc.read(descriptor, $0.baseAddress.map { $0 + start }, size - start)
      }
      guard count >= 0 || errno == EINTR else { throw SiteFileFault(path) }
      if count == 0 { break }
      start += max(count, 0)
    }
    return Array(bytes.prefix(start))
  }

  /// Creates a file that must not exist, and that only its owner can access.
  static func createSecret(_ path: String, _ bytes: [UInt8]) throws(SiteFileFault) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw SiteFileFault(path, "it exists already; remove it if no gateway uses it")
      }
      throw SiteFileFault(path)
    }
    do throws(SiteFileFault) { try write(bytes, to: descriptor, path) } catch {
      unlink(path)
      throw error
    }
    try flushFolder(of: path)
  }

  /// Replaces a file atomically: after a crash, the file has its old or its new content.
  package static func replace(
    _ path: String, with bytes: [UInt8], mode: mode_t = 0o644
  ) throws(SiteFileFault) {
    let draft = "\(path).\(getpid()).new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw SiteFileFault(path) }
    do throws(SiteFileFault) {
      try write(bytes, to: descriptor, path)
      guard rename(draft, path) == 0 else { throw SiteFileFault(path) }
    } catch {
      unlink(draft)
      throw error
    }
    try flushFolder(of: path)
  }

  /// Writes and flushes the bytes, and closes the descriptor.
  private static func write(
    _ bytes: [UInt8], to descriptor: Int32, _ path: String
  ) throws(SiteFileFault) {
    defer { close(descriptor) }
    var start = 0
    while start < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + start }, bytes.count - start)
      }
      guard count > 0 || errno == EINTR else { throw SiteFileFault(path) }
      start += max(count, 0)
    }
    guard fsync(descriptor) == 0 else { throw SiteFileFault(path) }
  }

  /// Flushes the folder, so that a new name survives a power failure.
  static func flushFolder(of path: String) throws(SiteFileFault) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SiteFileFault(folder) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SiteFileFault(folder) }
  }
}
#endif
