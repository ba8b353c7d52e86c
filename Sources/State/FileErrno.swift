import Glibc

/// The error number of a failed system call (errno(3)).
public struct FileErrno: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// The error number of the last call in this thread.
  static var current: FileErrno { FileErrno(rawValue: errno) }

  /// The message of the C library, such as `No space left on device`.
  public var description: String {
    var text = [CChar](repeating: 0, count: 128)
    guard strerror_r(rawValue, &text, text.count) == 0 else { return "error \(rawValue)" }
    return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

extension FileErrno {
  static let noEntry = FileErrno(rawValue: ENOENT)
  static let badDescriptor = FileErrno(rawValue: EBADF)
  static let timedOut = FileErrno(rawValue: ETIMEDOUT)
  static let exists = FileErrno(rawValue: EEXIST)
  static let interrupted = FileErrno(rawValue: EINTR)
  static let wouldBlock = FileErrno(rawValue: EWOULDBLOCK)
  static let addressInUse = FileErrno(rawValue: EADDRINUSE)
  static let nameTooLong = FileErrno(rawValue: ENAMETOOLONG)
  static let linksLoop = FileErrno(rawValue: ELOOP)
  static let isDirectory = FileErrno(rawValue: EISDIR)
  static let notADirectory = FileErrno(rawValue: ENOTDIR)
  static let noSpace = FileErrno(rawValue: ENOSPC)
  static let quotaExceeded = FileErrno(rawValue: EDQUOT)
  static let accessDenied = FileErrno(rawValue: EACCES)
  static let notPermitted = FileErrno(rawValue: EPERM)
  static let readOnlyFileSystem = FileErrno(rawValue: EROFS)
}
