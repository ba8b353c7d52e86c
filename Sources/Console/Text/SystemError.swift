import Glibc

package enum SystemError {
  /// The C library's words for an errno value.
  package static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }

  /// Why nothing can be written, for a person: a sentence without its full stop.
  package static func reasonOfOutput(_ errno: Int32) -> String {
    switch errno {
    case ENOSPC, EDQUOT, EFBIG: "The disk is full, or has no more room for it"
    case EACCES, EPERM, EROFS: "This user may not write there"
    case ENOENT, ENOTDIR: "The folder is not there"
    case ENAMETOOLONG: "No file can be called so"
    case EPIPE, EBADF: "Whoever reads it is gone"
    default: "The disk is full, or the folder or whoever reads it is gone"
    }
  }
}
