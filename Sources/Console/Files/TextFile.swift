import Glibc

/// A text file that is read completely.
package struct TextFile: Sendable {
  /// The maximum size in bytes; larger files are not text files.
  private static let sizeLimit = 64 << 20

  package let path: String

  package init(path: String) { self.path = path }

  /// - Throws: `.unreadable` with `EFBIG` for a file of more than 64 MiB.
  package func read() throws(FileFault) -> String {
    let content = try InputFile(path: path, limit: Self.sizeLimit).read()
    guard content.count <= Self.sizeLimit else { throw .unreadable(path: path, errno: EFBIG) }
    return String(decoding: content, as: UTF8.self)
  }
}
