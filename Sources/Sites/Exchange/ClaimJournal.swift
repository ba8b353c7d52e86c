#if Sites
import Synchronization

/// The keys of the entries that a worker may have claimed, so that it finds its claims after a lost
/// reply, and after a restart if the journal is stored. A lost journal only delays: the claims
/// expire.
package protocol ClaimJournal: Sendable {
  var keys: [String] { get }
  func add(_ key: String)
  func remove(_ key: String)
}

/// A journal that ends with its process.
package final class MemoryClaimJournal: ClaimJournal {
  private let stored = Mutex<Set<String>>([])

  package init() {}

  package var keys: [String] { stored.withLock { $0.sorted() } }

  package func add(_ key: String) { stored.withLock { _ = $0.insert(key) } }

  package func remove(_ key: String) { stored.withLock { _ = $0.remove(key) } }
}
#endif
