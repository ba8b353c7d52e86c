#if Sites
/// The configuration of a bucket.
package struct KeyValueConfiguration: Hashable, Sendable {
  package var bucket: String
  /// The number of stored revisions of each key, 1 to 64.
  package var history: Int64
  /// The age at which entries expire; `nil` = never. A watch does not report expired entries.
  package var lifetime: Duration?
  package var maximumValueBytes: Int32
  package var maximumBytes: Int64
  package var storage: StreamConfiguration.Storage
  package var replicas: Int
  /// Whether a message may remove other entries (header `Nats-Rollup`). If so, a client with
  /// permission to write one key can remove all entries of the bucket. Other programs need this
  /// setting to purge a key.
  package var allowsRollup: Bool

  package init(
    bucket: String, history: Int64 = 1, lifetime: Duration? = nil, maximumValueBytes: Int32 = -1,
    maximumBytes: Int64 = -1, storage: StreamConfiguration.Storage = .file, replicas: Int = 1,
    allowsRollup: Bool = false
  ) {
    self.bucket = bucket
    self.history = history
    self.lifetime = lifetime
    self.maximumValueBytes = maximumValueBytes
    self.maximumBytes = maximumBytes
    self.storage = storage
    self.replicas = replicas
    self.allowsRollup = allowsRollup
  }

  private static let duplicateWindow = Duration.seconds(120)

  /// The stream of the bucket, as other NATS clients create it, except for the roll-up.
  package var stream: StreamConfiguration {
    var stream = StreamConfiguration(name: "KV_\(bucket)", subjects: ["$KV.\(bucket).>"])
    stream.maximumMessagesPerSubject = history
    stream.maximumAge = lifetime ?? .zero
    stream.maximumMessageBytes = maximumValueBytes
    stream.maximumBytes = maximumBytes
    stream.storage = storage
    stream.replicas = replicas
    stream.discard = .new
    // The duplicate window may not exceed the lifetime of entries.
    stream.duplicateWindow = lifetime.map { min($0, Self.duplicateWindow) } ?? Self.duplicateWindow
    stream.deniesDeletion = true
    stream.allowsRollup = allowsRollup
    return stream
  }
}

/// A revision of an entry.
package struct KeyValueEntry: Hashable, Sendable {
  package let key: String
  /// The content; empty after a deletion.
  package let value: [UInt8]
  /// The revision, which increases with each change in the bucket.
  package let revision: UInt64
  package let isDeleted: Bool

  init?(subject: String, sequence: UInt64, headers: [String: String], payload: [UInt8]) {
    // `$KV.BUCKET.KEY`, possibly after the tokens of a domain.
    guard let start = subject.firstRange(of: "$KV.") else { return nil }
    let parts = subject[start.upperBound...].split(separator: ".", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    key = String(parts[1])
    value = payload
    revision = sequence
    isDeleted = headers["KV-Operation"] == "DEL" || headers["KV-Operation"] == "PURGE"
  }
}

/// A bucket of entries with revisions. Base decisions on the results of `create`, `update` and
/// `delete`, never on a read: in a cluster, a read may return an older revision.
package struct KeyValueBucket: Sendable {
  /// The reads of a new bucket, for longer than the election of a leader takes (4 to 9 s).
  private static let probesMaximum = 100
  private static let probeInterval = Duration.milliseconds(100)

  let stream: JetStream
  package let name: String

  /// Creates a handle of an existing bucket, without a request.
  package init(_ name: String, of stream: JetStream) throws(NATSFault) {
    try SubjectName.check(token: name)
    self.stream = stream
    self.name = name
  }

  /// Creates a bucket, or changes the configuration of an existing bucket.
  package init(
    _ configuration: KeyValueConfiguration, of stream: JetStream
  ) async throws(NATSFault) {
    try self.init(configuration.bucket, of: stream)
    try await stream.ensureStream(configuration.stream)
    try await awaitReads()
  }

  /// Waits until a server answers reads: in a cluster, the requests do not reach the servers of a
  /// new bucket immediately.
  private func awaitReads() async throws(NATSFault) {
    for _ in 0..<Self.probesMaximum {
      do throws(NATSFault) {
        _ = try await revision("probe")
        return
      } catch {
        guard case .noResponders = error else { throw error }
      }
      do { try await stream.connection.clock.sleep(for: Self.probeInterval) } catch {
        throw .cancelled(isSent: false)
      }
    }
    _ = try await revision("probe")
  }

  /// The maximum size in bytes that the server accepts for a value together with its headers, which
  /// have about 100 bytes.
  package var payloadMaximum: Int { get async { await stream.connection.payloadMaximum() } }

  /// Returns the current entry; `nil` if the entry does not exist or is deleted. An account needs
  /// permission only for this key.
  package func entry(_ key: String) async throws(NATSFault) -> KeyValueEntry? {
    guard let entry = try await revision(key), !entry.isDeleted else { return nil }
    return entry
  }

  /// Returns the last revision of an entry, even if the entry is deleted; `nil` if the bucket has
  /// no revision of the key.
  package func revision(_ key: String) async throws(NATSFault) -> KeyValueEntry? {
    try SubjectName.check(subject: key)
    let reply = try await stream.connection.query(
      NATSMessage(subject: "\(stream.prefix).DIRECT.GET.KV_\(name).\(subject(key))"))
    if let status = reply.status {
      guard status == 404 else {
        throw .refused(JetStreamRefusal(status: status, text: reply.statusText))
      }
      return nil
    }
    guard let sequence = reply.headers["Nats-Sequence"].flatMap({ UInt64($0) }),
      let entry = KeyValueEntry(
        subject: subject(key), sequence: sequence, headers: reply.headers, payload: reply.payload)
    else { throw .malformedReply("an entry without revision") }
    return entry
  }

  /// Returns the last revision of an entry from the leader of the bucket, which never returns an
  /// older revision; `nil` if the bucket has no revision of the key.
  package func newestRevision(_ key: String) async throws(NATSFault) -> KeyValueEntry? {
    let message = try await stream.lastMessage(in: "KV_\(name)", of: subject(key))
    return message.flatMap {
      KeyValueEntry(
        subject: $0.subject, sequence: $0.sequence, headers: $0.headers, payload: $0.payload)
    }
  }

  /// The newest revision of the bucket; 0 if no entry was ever written.
  package var lastRevision: UInt64 {
    get async throws(NATSFault) { try await stream.stream("KV_\(name)").content.lastSequence }
  }

  /// Writes a value regardless of the current revision, and returns the new revision.
  @discardableResult
  package func put(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64 {
    try await publish(key, value, expecting: nil)
  }

  /// Sends a value without confirmation, so the value may be lost.
  package func send(_ key: String, _ value: [UInt8]) async throws(NATSFault) {
    try SubjectName.check(subject: key)
    let prefix = stream.isRemote ? stream.prefix + "." : ""
    try await stream.connection.publish(
      NATSMessage(subject: prefix + subject(key), payload: value))
  }

  /// Creates an entry that does not exist or is deleted, and returns its revision; returns `nil` if
  /// the entry exists.
  package func create(_ key: String, _ value: [UInt8]) async throws(NATSFault) -> UInt64? {
    if let revision = try await update(key, value, expecting: 0) { return revision }
    // A deleted entry has a revision as well.
    guard let last = try await revision(key), last.isDeleted else { return nil }
    return try await update(key, value, expecting: last.revision)
  }

  /// Writes a value if the entry still has the expected revision, and returns the new revision;
  /// returns `nil` if the entry has another revision.
  package func update(
    _ key: String, _ value: [UInt8], expecting revision: UInt64
  ) async throws(NATSFault) -> UInt64? {
    try await Self.unlessChanged { () async throws(NATSFault) in
      try await publish(key, value, expecting: revision)
    }
  }

  /// Deletes an entry, and returns the revision of the deletion; returns `nil` if the entry does
  /// not have the expected revision.
  @discardableResult
  package func delete(
    _ key: String, expecting revision: UInt64? = nil
  ) async throws(NATSFault) -> UInt64? {
    try await Self.unlessChanged { () async throws(NATSFault) in
      try await publish(key, [], expecting: revision, headers: ["KV-Operation": "DEL"])
    }
  }

  /// Returns a watch of the existing entries and of all later changes. `keys` may contain
  /// wildcards. The watch reports each revision once.
  package func watch(_ keys: String = ">", includingHistory: Bool = false) -> KeyValueWatch {
    KeyValueWatch(bucket: self, keys: keys, includesHistory: includingHistory)
  }

  /// Returns the current entries or, with `includingHistory`, all revisions, the oldest first.
  package func entries(
    _ keys: String = ">", includingHistory: Bool = false
  ) async throws(NATSFault) -> [KeyValueEntry] {
    var found: [KeyValueEntry] = []
    var iterator = watch(keys, includingHistory: includingHistory).makeAsyncIterator()
    while case .entry(let entry) = try await iterator.next(isolation: nil) {
      if includingHistory || !entry.isDeleted { found.append(entry) }
    }
    return found
  }

  /// Returns the keys that match a filter, which may contain wildcards, without the values. Deleted
  /// entries are included. An account needs permission to read the state of the stream.
  package func keys(_ filter: String = ">") async throws(NATSFault) -> Set<String> {
    let prefix = subject("")
    return Set(
      try await stream.messages(in: "KV_\(name)", matching: subject(filter)).keys
        .map { String($0.dropFirst(prefix.count)) })
  }

  /// Removes the entries that match a filter, which may contain wildcards. A watch does not report
  /// this removal. An account needs permission to purge the stream.
  package func purge(_ filter: String) async throws(NATSFault) {
    try await stream.purge("KV_\(name)", matching: subject(filter))
  }

  // MARK: - Requests

  func subject(_ key: String) -> String { "$KV.\(name).\(key)" }

  private func publish(
    _ key: String, _ value: [UInt8], expecting revision: UInt64?, headers: [String: String] = [:]
  ) async throws(NATSFault) -> UInt64 {
    try SubjectName.check(subject: key)
    // Leaf nodes forward the subjects of buckets only with the prefix of the hub's domain.
    let prefix = stream.isRemote ? stream.prefix + "." : ""
    let message = NATSMessage(subject: prefix + subject(key), headers: headers, payload: value)
    return try await stream.publish(message, expecting: revision).sequence
  }

  private static func unlessChanged(
    _ body: () async throws(NATSFault) -> UInt64
  ) async throws(NATSFault) -> UInt64? {
    do throws(NATSFault) {
      return try await body()
    } catch {
      guard case .refused(let refusal) = error,
        refusal.number == JetStreamRefusal.wrongLastSequence
      else { throw error }
      return nil
    }
  }
}
#endif
