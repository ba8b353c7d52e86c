#if Sites
import Synchronization

/// The keys of the entries that a worker may have claimed. With the journal, a worker finds its
/// claims after a lost reply and, if the journal is stored, after a restart. Without the journal,
/// the claims must expire before the devices can be claimed again.
package protocol ClaimJournal: Sendable {
  var keys: [String] { get }
  func add(_ key: String)
  func remove(_ key: String)
}

/// A journal in memory, which is lost when the process ends.
package final class MemoryClaimJournal: ClaimJournal {
  private let stored = Mutex<Set<String>>([])

  package init() {}

  package var keys: [String] { stored.withLock { $0.sorted() } }

  package func add(_ key: String) { stored.withLock { _ = $0.insert(key) } }

  package func remove(_ key: String) { stored.withLock { _ = $0.remove(key) } }
}
#endif
