import Glibc

/// The right of one process to work on one device: an flock(2) on a file that is kept for as long
/// as the value lives, and given back by the kernel when the process dies.
public struct DeviceLock: ~Copyable, Sendable {
  // The file stays when the lock goes: to remove it would let a third process lock a new file of
  // that name while a second one still holds the old.
  private let file: FileDescriptor

  /// Takes the lock at once or not at all.
  /// - Parameter directory: created before (`StateDirectory.create()`).
  /// - Throws: `.deviceBusy` with the holder's pid, also when the holder is this process.
  public init(device: String, in directory: StateDirectory) throws(StateFault) {
    file = try Self.locked(
      path: "\(directory.lockPath)/\(DeviceFileName.escaped(device)).lock", device: device)
  }

  /// Ends the lock here, where the reader can see it.
  public consuming func release() {}

  private static func locked(path: String, device: String) throws(StateFault) -> FileDescriptor {
    let file = try FileDescriptor(opening: path, O_RDWR | O_CREAT | O_NOFOLLOW, as: .lock)
    let number = file.number
    do throws(FileErrno.Failure) {
      _ = try FileErrno.checked { flock(number, LOCK_EX | LOCK_NB) }
    } catch {
      guard error.errno == .wouldBlock else { throw StateFault(.lock, path: path, error.errno) }
      throw .deviceBusy(device: device, holder: holder(number))
    }
    let digits = Array("\(getpid())\n".utf8)
    guard ftruncate(number, 0) == 0, pwrite(number, digits, digits.count, 0) == digits.count else {
      throw StateFault(.write, path: path, .current)
    }
    return file
  }

  /// More digits than a pid has.
  private static let longestPid = 20

  private static func holder(_ number: Int32) -> Int32? {
    var digits = [UInt8](repeating: 0, count: longestPid)
    let count = pread(number, &digits, digits.count, 0)
    guard count > 0, let end = digits.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    return Int32(String(decoding: digits[..<end], as: UTF8.self))
  }
}
