// This is the only file of this target that uses the operating system.
import Glibc

/// Flash in a file: its content survives the end of the process, even `kill -9`. The file is
/// locked, so that two processes never simulate the same device.
public final class FlashFile: FlashMedium {
  public let size: Int
  private let descriptor: Int32

  /// Opens the file at `path`, or creates an erased file of `size` bytes under the temporary name
  /// `path` + `.new`, which is renamed when it is complete. A process that terminates earlier
  /// leaves no incomplete flash.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - size: the size of the flash in bytes.
  /// - Throws: `.medium`, with `EWOULDBLOCK` if another process has locked the file, and `EFBIG` if
  ///   it exists, is not empty, and has another size.
  public convenience init(path: String, size: Int) throws(FlashFault) {
    try self.init(path: path, size: size, formerSize: size)
  }

  /// - Parameter formerSize: the size of the flash in an earlier version. A file of this size
  ///   receives erased bytes at its end.
  package init(path: String, size: Int, formerSize: Int) throws(FlashFault) {
    self.size = size
    let present = open(path, O_RDWR | O_CLOEXEC)
    if present >= 0 {
      do throws(FlashFault) {
        let length = try Self.lock(present)
        guard length == 0 || length == size || length == formerSize else {
          throw .medium(operation: "open", errno: EFBIG)
        }
        if length > 0 {
          descriptor = present
          guard length < size else { return }
          try write([UInt8](repeating: 0xFF, count: size - length), at: length)
          return
        }
      } catch {
        Self.release(present)
        throw error
      }
    } else if errno != ENOENT {
      throw .medium(operation: "open", errno: errno)
    }
    // The empty file stays locked until the new file has replaced it.
    defer { if present >= 0 { Self.release(present) } }
    let draft = path + ".new"
    descriptor = open(draft, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .medium(operation: "open", errno: errno) }
    _ = try Self.lock(descriptor)
    do throws(FlashFault) {
      guard ftruncate(descriptor, 0) == 0 else {
        throw .medium(operation: "ftruncate", errno: errno)
      }
      try write([UInt8](repeating: 0xFF, count: size), at: 0)
      guard rename(draft, path) == 0 else { throw .medium(operation: "rename", errno: errno) }
    } catch {
      // An incomplete flash would only waste space on a full disk, so it is removed. The first
      // error is reported.
      unlink(draft)
      throw error
    }
  }

  /// Locks a file and returns its length.
  private static func lock(_ descriptor: Int32) throws(FlashFault) -> Int {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw .medium(operation: "flock", errno: errno)
    }
    let length = Int(lseek(descriptor, 0, SEEK_END))
    guard length >= 0 else { throw .medium(operation: "lseek", errno: errno) }
    return length
  }

  /// Unlocks a file and closes it. A process that was just started may have inherited the
  /// descriptor, and would otherwise hold the lock until it executes its program.
  private static func release(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    Glibc.close(descriptor)
  }

  deinit { if descriptor >= 0 { Self.release(descriptor) } }

  /// Returns the bytes of a range of addresses.
  public func read(_ range: Range<Int>) throws(FlashFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    try transfer("pread", count: range.count) { done in
      bytes.withUnsafeMutableBytes {
        pread(
          descriptor, $0.baseAddress.map { $0 + done }, range.count - done, range.lowerBound + done)
      }
    }
    return bytes
  }

  /// Writes bytes without any checks.
  public func write(_ bytes: [UInt8], at address: Int) throws(FlashFault) {
    try transfer("pwrite", count: bytes.count) { done in
      bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, address + done)
      }
    }
  }

  /// Repeats a call until it has transferred `count` bytes; each call must make progress.
  private func transfer(
    _ operation: String, count: Int, _ call: (_ done: Int) -> Int
  ) throws(FlashFault) {
    var done = 0
    while done < count {
      let moved = call(done)
      if moved < 0 && errno == EINTR { continue }
      guard moved > 0 else {
        throw .medium(operation: operation, errno: moved < 0 ? errno : EIO)
      }
      done += moved
    }
  }
}
