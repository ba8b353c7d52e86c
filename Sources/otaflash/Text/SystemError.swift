import Glibc

enum SystemError {
  /// The C library's words for an errno value.
  static func text(_ errno: Int32) -> String { String(cString: strerror(errno)) }
}
