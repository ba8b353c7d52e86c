#if Sites
import OtaflashNATS
import OtaflashSites
import Synchronization

/// A bucket in memory, which may lose requests and replies.
final class MemoryEntries: SiteEntries {
  enum Loss: Sendable { case none, request, reply }
  enum Call: Sendable { case read, write }

  private struct State {
    var entries: [String: SiteEntry] = [:]
    var revision: UInt64 = 0
    var puts: [String] = []
    var reads: [String] = []
  }
  private let state = Mutex(State())
  private let loss: @Sendable (Call, _ key: String) -> Loss

  init(loss: @escaping @Sendable (Call, _ key: String) -> Loss = { _, _ in .none }) {
    self.loss = loss
  }

  /// The keys that were written by `create`, `update` and `put`, in order.
  var puts: [String] { state.withLock { $0.puts } }
  /// The keys that were read by `current`, in order.
  var reads: [String] { state.withLock { $0.reads } }

  func forgetCalls() { state.withLock { ($0.puts, $0.reads) = ([], []) } }

  /// Changes an entry without a call, which could be lost; `nil` removes the entry.
  func set(_ key: String, _ value: [UInt8]?) {
    state.withLock { state in
      state.revision += 1
      state.entries[key] = value.map { SiteEntry(key: key, value: $0, revision: state.revision) }
    }
  }

  private func perform<Value>(
    _ call: Call, _ key: String, _ body: (inout State) -> Value
  ) throws(NATSFault) -> Value {
    let loss = loss(call, key)
    guard loss != .request else { throw .timedOut }
    let value = state.withLock { state in body(&state) }
    guard loss != .reply else { throw .timedOut }
    return value
  }

  private static func write(_ state: inout State, _ key: String, _ value: [UInt8]) -> UInt64 {
    state.revision += 1
    state.puts.append(key)
    state.entries[key] = SiteEntry(key: key, value: value, revision: state.revision)
    return state.revision
  }

  func current(_ key: String) async throws(NATSFault) -> SiteEntry? {
    try perform(.read, key) { state in
      state.reads.append(key)
      return state.entries[key]
    }
  }

  func create(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64? {
    try perform(.write, key) { state in
      state.entries[key] == nil ? Self.write(&state, key, value) : nil
    }
  }

  func update(
    _ key: String, _ value: [UInt8], expecting revision: UInt64
  ) async throws(NATSFault) -> UInt64? {
    try perform(.write, key) { state in
      state.entries[key]?.revision == revision ? Self.write(&state, key, value) : nil
    }
  }

  func put(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64 {
    try perform(.write, key) { state in Self.write(&state, key, value) }
  }

  func remove(_ key: String, expecting revision: UInt64?) async throws(NATSFault) {
    try perform(.write, key) { state in
      guard revision == nil || state.entries[key]?.revision == revision else { return }
      state.entries[key] = nil
    }
  }

  func all() async throws(NATSFault) -> [SiteEntry] {
    try perform(.read, ">") { $0.entries.values.sorted { $0.revision < $1.revision } }
  }

  /// Filters here have one wildcard, as the first or the last token.
  private static func matches(_ key: String, _ filter: String) -> Bool {
    let (key, filter) = (key.split(separator: "."), filter.split(separator: "."))
    return key.count == filter.count && zip(key, filter).allSatisfy { $1 == "*" || $0 == $1 }
  }

  func keys(_ filter: String) async throws(NATSFault) -> Set<String> {
    try perform(.read, filter) { state in
      Set(state.entries.keys.filter { Self.matches($0, filter) })
    }
  }

  func purge(_ filter: String) async throws(NATSFault) {
    try perform(.write, filter) { state in
      state.entries = state.entries.filter { !Self.matches($0.key, filter) }
    }
  }
}
#endif
