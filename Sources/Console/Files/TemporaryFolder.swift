import FoundationEssentials
import Glibc

/// A private folder, which is removed with its content when the value is destroyed.
package struct TemporaryFolder: ~Copyable {
  package let path: String

  /// - Parameter environment: TMPDIR is the parent folder if it is an absolute path (default:
  ///   /tmp).
  package init(environment: [String: String]) throws(FileFault) {
    let place = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    var template = Array((place + "/otaflash-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw .unreadable(path: place, errno: errno) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    do {
      try FileManager.default.removeItem(atPath: path)
    } catch {
      // A failure is ignored, because the content is not important, and the system removes it
      // later.
    }
  }
}
