#if Sites
import Foundation
import Synchronization

/// The temporary folders of a test, which are removed after it.
final class TemporaryFolders: Sendable {
  struct Folder: Sendable {
    let url: URL

    var path: String { url.path }
    /// The names of the files.
    var files: [String] {
      get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    func file(_ name: String) -> URL { url.appending(path: name) }
  }

  private let made = Mutex<[URL]>([])

  /// Returns a folder that does not exist yet.
  func make() -> Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "sites-\(UUID().uuidString)")
    made.withLock { $0.append(url) }
    return Folder(url: url)
  }

  deinit {
    for url in made.withLock({ $0 }) where FileManager.default.fileExists(atPath: url.path) {
      do { try FileManager.default.removeItem(at: url) } catch { print("it stays: \(error)") }
    }
  }
}
#endif
