#if Fleet
import Glibc
import SystemPackage

/// The standard input of a command, as an unlinked file in the folder for temporary files. Unlike
/// with a pipe, otaflash is not blocked if the command does not read its input.
enum HookInput {
  /// - Returns: the open file, at its start.
  static func file(of bytes: [UInt8]) throws(Errno) -> FileDescriptor {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var path = Array((folder + "/otaflash-report-XXXXXX").utf8CString)
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw Errno(rawValue: errno) }
    unlink(path)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let file = FileDescriptor(rawValue: descriptor)
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        let reason = Errno(rawValue: errno)
        close(file)
        throw reason
      }
      written += count
    }
    lseek(descriptor, 0, SEEK_SET)
    return file
  }

  static func close(_ file: FileDescriptor?) {
    if let file { _ = Glibc.close(file.rawValue) }
  }
}
#endif
