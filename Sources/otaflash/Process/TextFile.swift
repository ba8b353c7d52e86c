import Glibc

/// A file that is read as a whole.
struct TextFile: Sendable {
  /// Larger ones are not what a user meant.
  private static let sizeLimit = 64 << 20
  private static let readSize = 1 << 16

  let path: String

  /// - Throws: `.unreadable` with `EFBIG` for a file of more than 64 MiB.
  func read() throws(FileFault) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw errno == ENOENT ? .missing(path: path) : .unreadable(path: path, errno: errno)
    }
    defer { close(descriptor) }
    var content: [UInt8] = []
    var part = [UInt8](repeating: 0, count: Self.readSize)
    while content.count <= Self.sizeLimit {
      let count = Glibc.read(descriptor, &part, part.count)
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EISDIR { throw .isDirectory(path: path) }
      guard count >= 0 else { throw .unreadable(path: path, errno: errno) }
      if count == 0 { return String(decoding: content, as: UTF8.self) }
      content += part[..<count]
    }
    throw .unreadable(path: path, errno: EFBIG)
  }
}
