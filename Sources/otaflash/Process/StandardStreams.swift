import Glibc

/// The three descriptors that every process has, or should have.
enum StandardStreams {
  /// Puts something in the place of those that the parent has closed: the next file or socket would
  /// get their number, and be read as input or written to as output. What stands in refuses both.
  static func secure() {
    for (number, refusing) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY),
      (STDERR_FILENO, O_RDONLY),
    ]
    where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // The lowest number that is free, which this one is.
      _ = open("/dev/null", refusing)
    }
  }
}
