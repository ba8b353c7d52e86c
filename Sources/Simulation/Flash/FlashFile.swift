// The only file of this target that meets the operating system.
import Glibc

/// Flash in a file: what was written survives the end of the process, `kill -9` included. The file
/// is locked, so that two processes never simulate one device.
public final class FlashFile: FlashMedium {
  public let size: Int
  private let descriptor: Int32

  /// Opens the file at `path`, or makes an erased one of `size` octets.
  ///
  /// One that a process was about to make when it died is made whole.
  ///
  /// - Throws: `.medium`, with `EWOULDBLOCK` when another process has the file, and `EFBIG` when it
  ///   is there but has another size.
  public init(path: String, size: Int) throws(FlashFault) {
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .medium(operation: "open", errno: errno) }
    self.size = size
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw .medium(operation: "flock", errno: errno)
    }
    let length = Int(lseek(descriptor, 0, SEEK_END))
    guard length >= 0 else { throw .medium(operation: "lseek", errno: errno) }
    if length == size { return }
    guard length < size, try read(0..<length).allSatisfy({ $0 == 0xFF }) else {
      throw .medium(operation: "open", errno: EFBIG)
    }
    do throws(FlashFault) {
      try write([UInt8](repeating: 0xFF, count: size), at: 0)
    } catch {
      // A disk that is full has no use for a part of a flash. What failed already is the error.
      _ = ftruncate(descriptor, 0)
      throw error
    }
  }

  deinit { if descriptor >= 0 { Glibc.close(descriptor) } }

  /// The octets of a range of addresses.
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

  /// Writes octets as they are.
  public func write(_ bytes: [UInt8], at address: Int) throws(FlashFault) {
    try transfer("pwrite", count: bytes.count) { done in
      bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, address + done)
      }
    }
  }

  /// Repeats a call until `count` octets are through; each turn must move some.
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
