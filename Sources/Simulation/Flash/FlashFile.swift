// The only file of this target that meets the operating system.
import Glibc

/// Flash in a file: what was written survives the end of the process, `kill -9` included. The file
/// is locked, so that two processes never simulate one device.
public final class FlashFile: FlashMedium {
  public let size: Int
  private let descriptor: Int32

  /// Opens the file at `path`, or makes an erased one of `size` bytes: as `path` with `.new`
  /// behind it, which is moved there when it is whole. A process that dies before leaves nothing
  /// that looks like a flash.
  ///
  /// - Throws: `.medium`, with `EWOULDBLOCK` when another process has the file, and `EFBIG` when it
  ///   is there, is not empty, and has another size.
  public init(path: String, size: Int) throws(FlashFault) {
    self.size = size
    let present = open(path, O_RDWR | O_CLOEXEC)
    if present >= 0 {
      do throws(FlashFault) {
        let length = try Self.lock(present)
        guard length == 0 || length == size else {
          throw .medium(operation: "open", errno: EFBIG)
        }
        if length == size {
          descriptor = present
          return
        }
      } catch {
        Glibc.close(present)
        throw error
      }
    } else if errno != ENOENT {
      throw .medium(operation: "open", errno: errno)
    }
    // An empty file stays locked until the new one is in its place.
    defer { if present >= 0 { Glibc.close(present) } }
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
      // A disk that is full has no use for a part of a flash. What failed already is the error.
      unlink(draft)
      throw error
    }
  }

  /// Locks a file and tells its length.
  private static func lock(_ descriptor: Int32) throws(FlashFault) -> Int {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw .medium(operation: "flock", errno: errno)
    }
    let length = Int(lseek(descriptor, 0, SEEK_END))
    guard length >= 0 else { throw .medium(operation: "lseek", errno: errno) }
    return length
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// The bytes of a range of addresses.
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

  /// Writes bytes as they are.
  public func write(_ bytes: [UInt8], at address: Int) throws(FlashFault) {
    try transfer("pwrite", count: bytes.count) { done in
      bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, address + done)
      }
    }
  }

  /// Repeats a call until `count` bytes are through; each turn must move some.
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
