#if Sites
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import Synchronization

/// A worker's part of the exchange. The account of a worker may read and write only the entries of
/// its site.
final class SiteWorker: Sendable {
  /// The time limit of one request for an offer. A longer wait consists of several requests.
  private static let pollLimit = Duration.seconds(5)
  /// The pause between two rounds of requests to several consumers.
  private static let pollPause = Duration.milliseconds(50)
  private static let readPause = Duration.milliseconds(20)
  private static let readPauseMaximum = Duration.milliseconds(250)
  private static let changesMaximum = 8
  /// The delay after which an offer is delivered again if a replica does not have its entry yet, or
  /// if the entry cannot be written.
  private static let redeliveryDelay = Duration.seconds(1)

  private let stream: JetStream
  private let entries: EntryBucket
  private let records: RecordWaits
  private let progresses: KeyValueBucket
  private let clock: any LinkClock
  private let journal: any ClaimJournal
  /// Whether the worker also accepts jobs without a site and, if it has no site, the jobs of all
  /// sites. A gateway has no permission for these jobs.
  private let acceptsAnySite: Bool
  /// The last known revisions of claimed entries, by key.
  private let held = Mutex<[String: Held]>([:])
  /// Claims whose compare-and-set may have taken effect, by key, with the revision that it
  /// expected.
  private let unconfirmed = Mutex<[String: EntryBucket.Stored]>([:])
  /// The progress of transfers, by key. It is sent with the next renewal.
  private let unsent = Mutex<[String: JobProgress]>([:])

  private struct Held {
    var stored: EntryBucket.Stored
    /// Whether no later change of this worker may have taken effect.
    var isNewest = true
  }

  init(
    _ stream: JetStream, clock: any LinkClock, journal: any ClaimJournal, acceptsAnySite: Bool
  ) throws(NATSFault) {
    self.stream = stream
    self.clock = clock
    self.journal = journal
    self.acceptsAnySite = acceptsAnySite
    entries = try EntryBucket(stream)
    records = RecordWaits(try KeyValueBucket(SiteLayout.runs, of: stream), clock: clock)
    progresses = try KeyValueBucket(SiteLayout.progress, of: stream)
  }

  // MARK: Claims

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    let end = clock.now.advanced(by: wait)
    while true {
      let sources = try await consumers(of: worker)
      let remaining = max(clock.now.duration(to: end), .zero)
      let expiry = sources.count == 1 ? min(remaining, Self.pollLimit) : .zero
      for source in sources {
        if let claim = try await claim(for: worker, lease: lease, from: source, expiry: expiry) {
          return claim
        }
      }
      guard clock.now < end, !Task.isCancelled else { return nil }
      if expiry == .zero { await clock.pause(for: Self.pollPause) }
    }
  }

  private func consumers(of worker: FleetWorker) async throws(ExchangeFault) -> [String] {
    let own = worker.site.map { [SiteLayout.consumer(ofSite: $0)] } ?? []
    guard acceptsAnySite else { return own }
    let all = try await converting { () async throws(NATSFault) in
      try await stream.consumers(of: SiteLayout.offers)
    }
    let wanted = worker.site == nil ? all : own + [SiteLayout.consumer(ofSite: nil)]
    return wanted.filter(all.contains)
  }

  /// Fetches offers of one consumer until a claim succeeds or no offer is left.
  private func claim(
    for worker: FleetWorker, lease: Duration, from consumer: String, expiry: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    var expiry = expiry
    while !Task.isCancelled {
      let offer: DeliveredMessage?
      do throws(NATSFault) {
        offer = try await stream.fetch(from: consumer, of: SiteLayout.offers, expiry: expiry)
      } catch {
        if case .cancelled = error { return nil }
        guard case .noResponders = error else { throw ExchangeFault(error) }
        // The consumer does not exist, because no job was ever published at this site.
        await clock.pause(for: min(expiry, Self.redeliveryDelay))
        return nil
      }
      guard let offer else { return nil }
      do throws(ExchangeFault) {
        if let claim = try await claim(offer, for: worker, lease: lease) { return claim }
      } catch {
        // Otherwise, the job would wait for the acknowledgement limit of its offer.
        try await giveBack(offer)
        throw error
      }
      expiry = .zero
    }
    return nil
  }

  /// Claims the job of an offer; returns `nil` if another worker has claimed the job, the job has
  /// ended, or a replica does not have the entry yet. In the last case, the offer is delivered
  /// again.
  private func claim(
    _ offer: DeliveredMessage, for worker: FleetWorker, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    let prefix = SiteLayout.offer("")
    guard offer.message.subject.hasPrefix(prefix) else { return nil }
    let key = String(offer.message.subject.dropFirst(prefix.count))
    let revision = JobOffer(offer.message.payload)?.revision ?? 0
    for _ in 0..<Self.changesMaximum {
      var stored = try await entries.read(key)
      guard stored.revision >= revision else {
        try await giveBack(offer)
        return nil
      }
      guard let claim = stored.entry.claim(for: worker, lease: lease) else { break }
      journal.add(key)
      let revision: UInt64?
      do throws(NATSFault) {
        revision = try await entries.update(key, stored.entry, expecting: stored.revision)
      } catch {
        if error.effect == .unknown { unconfirmed.withLock { [stored] in $0[key] = stored } }
        throw ExchangeFault(error)
      }
      if let revision {
        stored.revision = revision
        held.withLock { [stored] in $0[key] = Held(stored: stored) }
        try await settle { () async throws(NATSFault) in try await offer.acknowledge() }
        return claim
      }
    }
    try await settle { () async throws(NATSFault) in try await offer.acknowledge() }
    return nil
  }

  private func giveBack(_ offer: DeliveredMessage) async throws(ExchangeFault) {
    try await settle { () async throws(NATSFault) in
      try await offer.giveBack(after: Self.redeliveryDelay)
    }
  }

  /// Acknowledges or returns an offer. If this message is lost, the offer is delivered again, and
  /// is acknowledged then.
  private func settle(
    _ body: () async throws(NATSFault) -> Void
  ) async throws(ExchangeFault) {
    do throws(NATSFault) { try await body() } catch {
      guard error.effect == .unknown || error == .notConnected else { throw ExchangeFault(error) }
    }
  }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    var claims: [JobClaim] = []
    for key in journal.keys {
      let stored = try await confirmed(key)
      if let claim = stored.entry.claim(of: worker.name) {
        held.withLock { $0[key] = Held(stored: stored) }
        claims.append(claim)
      } else {
        held.withLock { _ = $0.removeValue(forKey: key) }
        journal.remove(key)
      }
    }
    return claims
  }

  /// Returns the entry of a key. An unconfirmed claim is repeated with the revision that it
  /// expected, because the first request may take effect after a later read.
  private func confirmed(_ key: String) async throws(ExchangeFault) -> EntryBucket.Stored {
    guard let claim = unconfirmed.withLock({ $0[key] }) else { return try await newest(key) }
    let revision = try await converting { () async throws(NATSFault) in
      try await entries.update(key, claim.entry, expecting: claim.revision)
    }
    unconfirmed.withLock { _ = $0.removeValue(forKey: key) }
    if let revision { return EntryBucket.Stored(revision: revision, entry: claim.entry) }
    return try await newest(key, after: claim.revision)
  }

  /// Reads an entry that is not older than the last known revision. If the servers lost this
  /// revision, returns an older entry after several reads.
  ///
  /// - Parameter revision: a revision that is known to be replaced.
  private func newest(
    _ key: String, after revision: UInt64? = nil
  ) async throws(ExchangeFault) -> EntryBucket.Stored {
    let known = held.withLock { $0[key]?.stored.revision } ?? 0
    let oldest = max(known, revision.map { $0 + 1 } ?? 0)
    var stored = try await entries.read(key)
    var pause = Self.readPause
    for _ in 1..<Self.changesMaximum where stored.revision < oldest {
      guard await clock.pause(for: pause) else { break }
      pause = min(pause * 2, Self.readPauseMaximum)
      stored = try await entries.read(key)
    }
    return stored
  }

  var claimedJobs: [UpdateJob.ID] {
    held.withLock { $0.values.filter(\.isNewest).compactMap { $0.stored.entry.open?.job.id } }
  }

  // MARK: Changes

  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    let standing = try await change(claim) { (entry) throws(ExchangeFault) in
      try entry.renew(claim, lease: lease)
    }
    await sendProgress(key(claim))
    return standing
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await change(claim) { (entry) throws(ExchangeFault) in try entry.report(claim, event) }
  }

  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    let isHeld = try await change(claim) { $0.finish(claim, ending) }
    forget(claim)
    guard isHeld else { throw .claimLost(claim.job.id) }
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await change(claim) { $0.release(claim, reason) }
    forget(claim)
  }

  private func forget(_ claim: JobClaim) {
    let key = key(claim)
    held.withLock { _ = $0.removeValue(forKey: key) }
    unsent.withLock { _ = $0.removeValue(forKey: key) }
    journal.remove(key)
  }

  private func key(_ claim: JobClaim) -> String {
    SiteLayout.key(site: claim.job.site, device: claim.job.id.device)
  }

  /// Changes the entry of a claim by compare-and-set. The result for a known revision is used only
  /// if its compare-and-set succeeds; otherwise the entry is read again.
  private func change<Value>(
    _ claim: JobClaim, _ body: (inout DeviceEntry) throws(ExchangeFault) -> Value
  ) async throws(ExchangeFault) -> Value {
    let key = key(claim)
    var known = held.withLock { held in
      defer { held[key]?.isNewest = false }
      return held[key].flatMap { $0.isNewest ? $0.stored : nil }
    }
    for _ in 0..<Self.changesMaximum {
      let stored: EntryBucket.Stored
      let isFresh = known == nil
      if let known { stored = known } else { stored = try await newest(key) }
      known = nil
      var entry = stored.entry
      let value: Value
      do throws(ExchangeFault) { value = try body(&entry) } catch {
        guard isFresh else { continue }
        held.withLock { _ = $0.removeValue(forKey: key) }
        throw error
      }
      if entry == stored.entry {
        guard isFresh else { continue }
        return value
      }
      let revision = try await converting { () async throws(NATSFault) in
        try await entries.update(key, entry, expecting: stored.revision)
      }
      if let revision {
        let new = EntryBucket.Stored(revision: revision, entry: entry)
        held.withLock { $0[key] = Held(stored: new) }
        return value
      }
    }
    throw .unavailable(words: "the entry \(key) changes too often")
  }

  // MARK: Records and progress

  func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    let key = key(claim)
    let known = held.withLock { $0[key].flatMap { $0.isNewest ? $0.stored.revision : nil } }
    let revision: UInt64
    if let known { revision = known } else { revision = try await newest(key).revision }
    try await records.wait(for: claim.job.id.run, upTo: revision)
  }

  /// Stores the progress of a transfer until the next renewal.
  func progress(_ claim: JobClaim, _ progress: JobProgress) {
    let key = key(claim)
    unsent.withLock { $0[key] = progress }
  }

  private func sendProgress(_ key: String) async {
    guard let progress = unsent.withLock({ $0.removeValue(forKey: key) }) else { return }
    // If the value is lost, the next value replaces it.
    do throws(NATSFault) { try await progresses.send(key, progress.bytesOfEntry) } catch { return }
  }

  private func converting<Value>(
    _ body: () async throws(NATSFault) -> Value
  ) async throws(ExchangeFault) -> Value {
    do throws(NATSFault) { return try await body() } catch { throw ExchangeFault(error) }
  }
}
#endif
