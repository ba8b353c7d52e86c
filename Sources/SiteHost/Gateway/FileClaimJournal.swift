#if Sites
import OtaflashSites
import Synchronization

/// The keys of the claims of a gateway in a file, so that a gateway continues its claims after a
/// restart. If the file cannot be read or written, the claims must expire before the devices can be
/// claimed again.
final class FileClaimJournal: ClaimJournal {
  private static let sizeMaximum = 1 << 20

  private let path: String
  private let stored: Mutex<Set<String>>

  init(path: String) {
    self.path = path
    stored = Mutex(Self.keys(in: path))
  }

  private static func keys(in path: String) -> Set<String> {
    do throws(SiteFileFault) {
      let bytes = try SiteFile.read(path, atMost: sizeMaximum) ?? []
      return Set(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
    } catch {
      return []
    }
  }

  var keys: [String] { stored.withLock { $0.sorted() } }

  func add(_ key: String) {
    stored.withLock { keys in
      guard keys.insert(key).inserted else { return }
      write(keys)
    }
  }

  func remove(_ key: String) {
    stored.withLock { keys in
      guard keys.remove(key) != nil else { return }
      write(keys)
    }
  }

  private func write(_ keys: Set<String>) {
    let text = keys.sorted().map { $0 + "\n" }.joined()
    do throws(SiteFileFault) { try SiteFile.replace(path, with: Array(text.utf8)) } catch { return }
  }
}
#endif
