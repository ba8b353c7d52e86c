#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// The extent to which a coordinator has recorded the facts of a run.
struct RunRecord: Hashable, Sendable, Codable {
  /// The revision of `STATE` up to which all facts are recorded.
  var recorded: UInt64 = 0
  /// Whether a coordinator records facts.
  var isOpen = false

  init() {}

  /// Decodes an entry of the bucket; returns `nil` without an entry.
  init?(_ value: [UInt8]?) {
    guard let value else { return nil }
    do { self = try JSONDecoder().decode(RunRecord.self, from: Data(value)) } catch {
      return nil
    }
  }

  var bytes: [UInt8] {
    do { return Array(try JSONEncoder().encode(self)) } catch {
      preconditionFailure("a record cannot be encoded: \(error)")
    }
  }
}

/// The bucket `RUNS`, which only the coordinator writes.
final class RunRecords: Sendable {
  private struct State {
    var current: [String: RunRecord] = [:]
    var written: [String: RunRecord] = [:]
  }

  private let bucket: KeyValueBucket
  private let state = Mutex(State())
  /// Serializes writes, so that an older record never replaces a newer record.
  private let gate = SerialGate(waitersMaximum: 1024)

  init(_ stream: JetStream) throws(NATSFault) {
    bucket = try KeyValueBucket(SiteLayout.runs, of: stream)
  }

  static func key(of run: String) -> String { "\(SubjectToken(run))" }

  /// Opens a run, and returns the record of the run.
  func open(_ run: String) async throws(NATSFault) -> RunRecord {
    let isKnown = state.withLock { $0.current[run] != nil }
    let stored =
      isKnown
      ? nil : try await bucket.newestRevision(Self.key(of: run)).flatMap { RunRecord($0.value) }
    let record = state.withLock { state in
      var record = state.current[run] ?? stored ?? RunRecord()
      record.isOpen = true
      state.current[run] = record
      return record
    }
    try await write(run)
    return record
  }

  func record(_ run: String, upTo revision: UInt64) async throws(NATSFault) {
    let isNew = state.withLock { state in
      guard let known = state.current[run], known.recorded < revision else { return false }
      state.current[run]?.recorded = revision
      return true
    }
    if isNew { try await write(run) }
  }

  /// Marks a run as closed; `write` publishes this state to the workers.
  func close(_ run: String) { state.withLock { $0.current[run]?.isOpen = false } }

  func forget(_ run: String) async throws(NATSFault) {
    state.withLock { ($0.current[run], $0.written[run]) = (nil, nil) }
    try await bucket.delete(Self.key(of: run))
  }

  /// Writes the current record of a run.
  func write(_ run: String) async throws(NATSFault) {
    guard await gate.enter() == .entered else { throw .cancelled(isSent: false) }
    defer { gate.leave() }
    let record = state.withLock { $0.written[run] == $0.current[run] ? nil : $0.current[run] }
    guard let record else { return }
    try await bucket.put(Self.key(of: run), record.bytes)
    state.withLock { $0.written[run] = record }
  }
}
#endif
