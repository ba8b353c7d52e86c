#if Sites
import FoundationEssentials
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// A running coordinator.
package struct CoordinatorName: Hashable, Sendable {
  /// The identifier. It must be equal only for processes that cannot run at the same time, such as
  /// processes that lock the same store. If a coordinator restarts with the same identifier, it
  /// takes over immediately.
  package let id: String
  /// The name of the host, for messages.
  package let host: String

  package init(id: String, host: String) {
    self.id = id
    self.host = host
  }
}

/// The reason why a coordinator may not run.
package enum LeadershipFault: Error, Hashable, Sendable {
  /// Another coordinator is running.
  case running(host: String)
  /// Another coordinator has taken over; `nil` means that the entry was removed.
  case takenOver(host: String?)
  /// The bucket cannot be used.
  case unavailable(NATSFault)
  case cancelled
}

/// The right of one coordinator to run: an entry in the bucket `LEADER`, renewed by
/// compare-and-set. Times of different hosts are not compared: another coordinator may take over if
/// the entry was unchanged for `silence`, on the clock of the other coordinator.
package final class Leadership: Sendable {
  /// The time between two renewals.
  package static let renewalInterval = Duration.seconds(5)
  /// The time without a renewal after which another coordinator may take over.
  package static let silence = Duration.seconds(15)
  /// The time after the start of the last successful renewal during which no other coordinator can
  /// have taken over.
  static let certainty = silence * 2 / 3
  static let key = "coordinator"
  private static let readInterval = Duration.seconds(1)
  /// The maximum number of attempts of one renewal. An attempt fails if an earlier write was stored
  /// although its reply was lost.
  private static let attemptsMaximum = 3

  private struct Value: Codable {
    let id: String
    let host: String
    /// A number that is different in each renewal.
    let count: Int
  }

  private struct State {
    var revision: UInt64
    var renewed: Duration
    var count = 0
  }

  private let entries: any SiteEntries
  private let name: CoordinatorName
  private let clock: any LinkClock
  private let state: Mutex<State>

  private init(
    _ entries: any SiteEntries, _ name: CoordinatorName, _ clock: any LinkClock,
    revision: UInt64, renewed: Duration
  ) {
    self.entries = entries
    self.name = name
    self.clock = clock
    state = Mutex(State(revision: revision, renewed: renewed))
  }

  // MARK: Start

  /// Waits until no other coordinator runs, at most `silence`; returns the right to run.
  ///
  /// - Throws: `.running` as soon as another coordinator renews its entry.
  package static func acquire(
    in entries: any SiteEntries, as name: CoordinatorName, clock: any LinkClock
  ) async throws(LeadershipFault) -> Leadership {
    func start(_ revision: UInt64, _ moment: Duration) -> Leadership {
      Leadership(entries, name, clock, revision: revision, renewed: moment)
    }
    var moment = clock.now.elapsed
    let value = encode(Value(id: name.id, host: name.host, count: 0))
    guard let found = try await read(entries) else {
      let revision = try await checked { () async throws(NATSFault) -> UInt64? in
        try await entries.create(key, value)
      }
      if let revision { return start(revision, moment) }
      throw .running(host: try await read(entries)?.host ?? "unknown")
    }
    // If the entry has the same id, the caller has ensured that the previous process has ended.
    let end = clock.now.advanced(by: found.id == name.id ? .zero : silence)
    while clock.now < end {
      guard await clock.pause(until: min(end, clock.now.advanced(by: readInterval))) else {
        throw .cancelled
      }
      let now = try await read(entries)
      // If the entry was removed, the other coordinator has ended.
      guard let now else { break }
      guard now.revision == found.revision else { throw .running(host: now.host) }
    }
    moment = clock.now.elapsed
    let revision = try await checked { () async throws(NATSFault) -> UInt64? in
      if let revision = try await entries.update(key, value, expecting: found.revision) {
        return revision
      }
      return try await entries.create(key, value)
    }
    if let revision { return start(revision, moment) }
    throw .running(host: try await read(entries)?.host ?? found.host)
  }

  // MARK: Renewal

  /// Whether no other coordinator can have taken over. The value is `false` after 10 s without a
  /// successful renewal, and `true` again after the next renewal.
  package var isCertain: Bool {
    clock.now.elapsed - state.withLock { $0.renewed } < Self.certainty
  }

  /// Renews the entry until the task is cancelled. A broker that does not respond is not a reason
  /// to end, because no other coordinator can take over either.
  ///
  /// - Throws: `.takenOver`; `.unavailable` if the connection was closed.
  package func keep() async throws(LeadershipFault) {
    while await clock.pause(for: Self.renewalInterval) { try await renew() }
  }

  func renew() async throws(LeadershipFault) {
    for _ in 0..<Self.attemptsMaximum {
      let moment = clock.now.elapsed
      let (expected, count) = state.withLock { state in
        state.count += 1
        return (state.revision, state.count)
      }
      let value = Self.encode(Value(id: name.id, host: name.host, count: count))
      do throws(NATSFault) {
        if let revision = try await entries.update(Self.key, value, expecting: expected) {
          return state.withLock { ($0.revision, $0.renewed) = (revision, moment) }
        }
      } catch {
        if error == .closed { throw .unavailable(error) }
        return
      }
      let found: Found?
      do throws(LeadershipFault) { found = try await Self.read(entries) } catch { return }
      guard let found, found.id == name.id else { throw .takenOver(host: found?.host) }
      // This process wrote the found revision, but the reply was lost; or a replica returned an old
      // revision.
      state.withLock { $0.revision = max($0.revision, found.revision) }
    }
  }

  /// Removes the entry, so that the next coordinator does not wait.
  package func release() async throws(NATSFault) {
    try await entries.remove(Self.key, expecting: state.withLock { $0.revision })
  }

  // MARK: Entries

  private struct Found {
    let id: String
    let host: String
    let revision: UInt64
  }

  private static func read(_ entries: any SiteEntries) async throws(LeadershipFault) -> Found? {
    let entry = try await checked { () async throws(NATSFault) in try await entries.current(key) }
    guard let entry else { return nil }
    do {
      let value = try JSONDecoder().decode(Value.self, from: Data(entry.value))
      return Found(id: value.id, host: value.host, revision: entry.revision)
    } catch {
      // An entry of another version of otaflash is treated as the entry of another coordinator.
      return Found(id: "", host: "unknown", revision: entry.revision)
    }
  }

  private static func checked<Value>(
    _ body: () async throws(NATSFault) -> Value
  ) async throws(LeadershipFault) -> Value {
    do throws(NATSFault) { return try await body() } catch {
      if case .cancelled = error { throw .cancelled }
      throw .unavailable(error)
    }
  }

  private static func encode(_ value: Value) -> [UInt8] {
    do { return Array(try JSONEncoder().encode(value)) } catch {
      preconditionFailure("a value cannot be encoded: \(error)")
    }
  }
}

extension LeadershipFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .running(let host):
      "a coordinator is running on \(host); stop it, or wait 15 s after it has ended"
    case .takenOver(let host?):
      "the coordinator on \(host) has taken over; this coordinator has stopped"
    case .takenOver(nil):
      "the entry of the running coordinator was removed; this coordinator has stopped"
    case .unavailable(let fault): "\(fault)"
    case .cancelled: "the task was cancelled"
    }
  }
}
#endif
