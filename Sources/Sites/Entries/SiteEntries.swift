#if Sites
import OtaflashNATS

/// The current revision of an entry.
package struct SiteEntry: Hashable, Sendable {
  package let key: String
  package let value: [UInt8]
  package let revision: UInt64

  package init(key: String, value: [UInt8], revision: UInt64) {
    self.key = key
    self.value = value
    self.revision = revision
  }
}

/// The operations of a bucket that images, presence and the coordinator's lease need. Tests replace
/// the bucket to simulate lost requests and replies.
package protocol SiteEntries: Sendable {
  /// Returns the entry; `nil` if the entry does not exist. In a cluster, the result may be an older
  /// revision.
  func current(_ key: String) async throws(NATSFault) -> SiteEntry?
  /// Creates an entry, and returns its revision; returns `nil` if the entry exists.
  func create(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64?
  /// Replaces an entry, and returns its revision; returns `nil` if the current revision is not the
  /// expected revision.
  func update(
    _ key: String, _ value: [UInt8], expecting revision: UInt64
  ) async throws(NATSFault) -> UInt64?
  /// Writes an entry regardless of its revision, and returns the new revision.
  @discardableResult
  func put(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64
  /// Removes an entry if it still has the expected revision; `nil` permits any revision.
  func remove(_ key: String, expecting revision: UInt64?) async throws(NATSFault)
  /// Returns all entries.
  func all() async throws(NATSFault) -> [SiteEntry]
  /// Returns the keys that match a filter with wildcards, without the values. The result contains
  /// the keys of removed entries, but not the keys of purged entries.
  func keys(_ filter: String) async throws(NATSFault) -> Set<String>
  /// Removes the entries that match a filter, and their keys.
  func purge(_ filter: String) async throws(NATSFault)
}

extension KeyValueBucket: SiteEntries {
  package func current(_ key: String) async throws(NATSFault) -> SiteEntry? {
    try await entry(key).map { SiteEntry(key: $0.key, value: $0.value, revision: $0.revision) }
  }

  package func remove(_ key: String, expecting revision: UInt64?) async throws(NATSFault) {
    _ = try await delete(key, expecting: revision)
  }

  package func all() async throws(NATSFault) -> [SiteEntry] {
    try await entries().map { SiteEntry(key: $0.key, value: $0.value, revision: $0.revision) }
  }
}
#endif
