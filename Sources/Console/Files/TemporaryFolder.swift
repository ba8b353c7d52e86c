import FoundationEssentials
import Glibc

/// A folder for this user alone, which is gone with all that is in it when the value is.
package struct TemporaryFolder: ~Copyable {
  package let path: String

  /// - Parameter environment: TMPDIR says where; else it is /tmp.
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
      // Nothing that matters is in it, and whoever cleans the place up finds it.
    }
  }
}
