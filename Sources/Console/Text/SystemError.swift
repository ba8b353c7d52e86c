import Glibc

package enum SystemError {
  /// Returns the message of the C library for an errno value.
  package static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

  /// Returns the reason for a failed write, as a sentence without its period.
  package static func reasonOfOutput(_ errno: Int32) -> String {
    switch errno {
    case ENOSPC, EDQUOT, EFBIG: "The disk is full, or a size limit was reached"
    case EACCES, EPERM, EROFS: "This user has no write permission"
    case ENOENT, ENOTDIR: "The directory does not exist"
    case ENAMETOOLONG: "The file name is too long"
    case EPIPE, EBADF: "The reader has exited"
    default: "The disk is full, or the directory or the reader no longer exists"
    }
  }
}
