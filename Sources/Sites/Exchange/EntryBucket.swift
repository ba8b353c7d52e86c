#if Sites
import FoundationEssentials
import OtaflashFleet
import OtaflashNATS

/// The bucket `STATE` with typed entries.
struct EntryBucket: Sendable {
  /// A revision of a device's entry. If the key is unknown or deleted, the entry is empty.
  struct Stored: Sendable {
    var revision: UInt64
    var entry: DeviceEntry
  }

  let bucket: KeyValueBucket

  init(_ stream: JetStream) throws(NATSFault) {
    bucket = try KeyValueBucket(SiteLayout.state, of: stream)
  }

  /// Returns the current entry. A replica may return an older entry, so the caller must rely on the
  /// result of `update`.
  func read(_ key: String) async throws(ExchangeFault) -> Stored {
    try await read(key) { (bucket) async throws(NATSFault) in try await bucket.revision(key) }
  }

  /// Returns the newest entry. A gateway has no permission for this call.
  func readNewest(_ key: String) async throws(ExchangeFault) -> Stored {
    try await read(key) { (bucket) async throws(NATSFault) in
      try await bucket.newestRevision(key)
    }
  }

  private func read(
    _ key: String, _ body: (KeyValueBucket) async throws(NATSFault) -> KeyValueEntry?
  ) async throws(ExchangeFault) -> Stored {
    let found: KeyValueEntry?
    do throws(NATSFault) { found = try await body(bucket) } catch { throw ExchangeFault(error) }
    guard let found else { return Stored(revision: 0, entry: DeviceEntry()) }
    guard let entry = Self.decode(found) else {
      throw .unavailable(words: "the entry \(key) was written by another version of otaflash")
    }
    return Stored(revision: found.revision, entry: entry)
  }

  /// Writes an entry if the key still has the expected revision, and returns the new revision;
  /// returns `nil` if the key has another revision. An empty entry is deleted.
  func update(
    _ key: String, _ entry: DeviceEntry, expecting revision: UInt64
  ) async throws(NATSFault) -> UInt64? {
    guard !entry.isEmpty else { return try await bucket.delete(key, expecting: revision) }
    return try await bucket.update(key, Self.encode(entry), expecting: revision)
  }

  /// Returns the entry of a revision; `nil` if another version of otaflash wrote the entry, or if
  /// the entry and its key name different devices.
  static func decode(_ stored: KeyValueEntry) -> DeviceEntry? {
    stored.isDeleted ? DeviceEntry() : decode(stored.value, of: stored.key)
  }

  static func decode(_ bytes: [UInt8], of key: String) -> DeviceEntry? {
    do {
      let entry = try JSONDecoder().decode(DeviceEntry.self, from: Data(bytes))
      let isSound = entry.jobs.allSatisfy { run, row in
        let id = row.job.id
        return id.run == run
          && SiteLayout.key(site: row.job.site, device: id.device) == key
          && row.facts.allSatisfy { fact in
            fact.event.subject.map { $0.device == id.device && $0.attempt <= id.attempt } ?? false
          }
      }
      return isSound ? entry : nil
    } catch {
      return nil
    }
  }

  static func encode(_ entry: DeviceEntry) -> [UInt8] {
    do { return Array(try JSONEncoder().encode(entry)) } catch {
      preconditionFailure("an entry cannot be encoded: \(error)")
    }
  }
}

extension FleetEvent {
  /// The device and attempt of a fact of a job; `nil` if the event is not such a fact.
  var subject: (device: FleetDevice.ID, attempt: Int)? {
    switch self {
    case .deviceClaimed(let device, let attempt, _), .devicePlaced(let device, let attempt, _),
      .transferBegan(let device, let attempt, _), .deviceActivating(let device, let attempt),
      .claimExpired(let device, let attempt), .deviceNotInRange(let device, let attempt, _),
      .outcomeReportedLate(let device, let attempt, _, _),
      .deviceHookEnded(let device, let attempt, _, _), .attemptEnded(let device, let attempt, _):
      (device, attempt)
    default: nil
    }
  }
}

extension ExchangeFault {
  /// A broker that cannot be used now may be usable later. The caller determines how long to wait.
  init(_ fault: NATSFault) { self = .unavailable(words: "\(fault)") }
}
#endif
