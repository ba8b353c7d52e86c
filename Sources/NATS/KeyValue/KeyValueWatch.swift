#if Sites
/// The changes of a bucket: first the existing entries, then `.current`, then each change. After a
/// lost connection or a gap, a new consumer continues after the last revision. The latest revision
/// of each key is therefore always reported; with a history of 1, earlier revisions may be missing.
package struct KeyValueWatch: AsyncSequence, Sendable {
  package enum Element: Hashable, Sendable {
    /// A revision, which may be a deletion.
    case entry(KeyValueEntry)
    /// All entries that existed at the start were reported.
    case current
  }

  let bucket: KeyValueBucket
  let keys: String
  let includesHistory: Bool
  /// The time after which the server sends entries again that are not acknowledged. A new consumer
  /// requests missing entries, so the time can be longer than the life of a watch.
  package var acknowledgementLimit = Duration.seconds(86_400)

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  package struct AsyncIterator: AsyncIteratorProtocol {
    /// The maximum number of consecutive consumers without a delivery; after this number, the watch
    /// fails.
    private static let failuresMaximum = 12

    private let watch: KeyValueWatch
    private var source: Source?
    private var lastRevision: UInt64 = 0
    private var isCurrent = false
    private var mustReportCurrent = false

    fileprivate init(_ watch: KeyValueWatch) { self.watch = watch }

    /// Returns the next change. Waits indefinitely, until the task is cancelled.
    ///
    /// - Throws: `.cancelled`, `.closed`, a fault that another attempt cannot fix, or the last
    ///   fault after several failed attempts.
    package mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(NATSFault) -> Element? {
      var failures = 0
      while true {
        if mustReportCurrent {
          (mustReportCurrent, isCurrent) = (false, true)
          return .current
        }
        do throws(NATSFault) {
          let source = try await openSource()
          guard !mustReportCurrent else { continue }
          let (message, facts) = try await source.next()
          failures = 0
          // An entry that the server has sent again.
          guard facts.sequence > lastRevision else { continue }
          guard
            let entry = KeyValueEntry(
              subject: message.subject, sequence: facts.sequence, headers: message.headers,
              payload: message.payload)
          else { continue }
          mustReportCurrent = facts.pending == 0 && !isCurrent
          lastRevision = facts.sequence
          return .entry(entry)
        } catch {
          source = nil
          switch error {
          case .connectionLost, .timedOut, .malformedReply:
            failures += 1
            guard failures <= Self.failuresMaximum else { throw error }
          // An outage may be long and is not a failure of the watch; `ready` has already waited.
          case .notConnected: break
          default: throw error
          }
        }
      }
    }

    private nonisolated(nonsending) mutating func openSource() async throws(NATSFault) -> Source {
      if let source { return source }
      let (source, pending) = try await Source.open(watch, after: lastRevision)
      if pending == 0, !isCurrent { mustReportCurrent = true }
      self.source = source
      return source
    }
  }
}

/// A consumer of the entries of a watch. The server removes the consumer if it receives no requests
/// for some time.
private final class Source {
  private struct Configuration: Encodable {
    var name: String
    var filter: String
    var start: String
    var firstSequence: UInt64?
    var lifetime: Int64
    var acknowledgementLimit: Int64
    /// An acknowledgement also acknowledges all earlier entries.
    var acknowledgement = "all"
    var openMaximum = -1
    var replay = "instant"
    var isInMemory = true
    var replicas = 1

    enum CodingKeys: String, CodingKey {
      case name
      case filter = "filter_subject"
      case start = "deliver_policy"
      case firstSequence = "opt_start_seq"
      case lifetime = "inactive_threshold"
      case acknowledgementLimit = "ack_wait"
      case acknowledgement = "ack_policy"
      case openMaximum = "max_ack_pending"
      case replay = "replay_policy"
      case isInMemory = "mem_storage"
      case replicas = "num_replicas"
    }
  }

  private struct Reply: Decodable {
    let pending: UInt64
    enum CodingKeys: String, CodingKey { case pending = "num_pending" }
  }

  private struct PullRequest: Encodable {
    let batch: Int
    let expires: Int64
    let heartbeat: Int64

    enum CodingKeys: String, CodingKey {
      case batch, expires
      case heartbeat = "idle_heartbeat"
    }
  }

  /// The number of entries per request. Further entries arrive only after these entries are read.
  private static let batch = 256
  private static let expiry = Duration.seconds(30)
  /// One server has the consumer. If this server ends, only missing heartbeats show it, and a run
  /// waits until then.
  private static let heartbeat = Duration.seconds(1)
  private static let silenceMaximum = heartbeat * 3
  private static let lifetime = Duration.seconds(60)
  /// The maximum wait for a new consumer. While the servers elect a leader, they do not answer the
  /// request, so a short limit shortens the pause after the election.
  private static let creationLimit = Duration.seconds(2)

  private let stream: JetStream
  private let name: ConsumerName
  private let mailbox = Mailbox(capacity: batch * 2)
  private let request: NATSMessage
  private let number: UInt64
  /// The number of entries that the server may still send.
  private var requested = 0
  private var lastConsumerSequence: UInt64 = 0

  private init(_ stream: JetStream, _ name: ConsumerName) {
    self.stream = stream
    self.name = name
    let switchboard = stream.connection.switchboard
    let subject = "\(stream.prefix).CONSUMER.MSG.NEXT.\(name.stream).\(name.consumer)"
    number = switchboard.open(mailbox, for: subject)
    let body = PullRequest(
      batch: Self.batch, expires: Self.expiry.nanoseconds, heartbeat: Self.heartbeat.nanoseconds)
    request = NATSMessage(
      subject: subject, reply: switchboard.replySubject(number), payload: JetStream.encoded(body))
    switchboard.openWatch(name, mailbox)
  }

  deinit {
    stream.connection.switchboard.close(number)
    stream.connection.switchboard.closeWatch(name)
  }

  /// Creates the consumer, and returns it with the number of existing entries that it will deliver.
  static nonisolated(nonsending) func open(
    _ watch: KeyValueWatch, after revision: UInt64
  ) async throws(NATSFault) -> (Source, pending: UInt64) {
    try SubjectName.check(filter: watch.keys)
    let stream = watch.bucket.stream
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    let name = ConsumerName(
      stream: "KV_\(watch.bucket.name)", consumer: Switchboard.watchPrefix + number)
    let configuration = Configuration(
      name: name.consumer, filter: watch.bucket.subject(watch.keys),
      start: revision > 0
        ? "by_start_sequence" : watch.includesHistory ? "all" : "last_per_subject",
      firstSequence: revision > 0 ? revision + 1 : nil, lifetime: lifetime.nanoseconds,
      acknowledgementLimit: watch.acknowledgementLimit.nanoseconds)
    let reply: Reply = try await stream.call(
      "CONSUMER.CREATE.\(name.stream).\(name.consumer)",
      ConsumerRequest(stream: name.stream, configuration: configuration), within: creationLimit)
    return (Source(stream, name), reply.pending)
  }

  /// Waits indefinitely for the next entry, and returns it.
  ///
  /// - Throws: `.connectionLost` if an entry is missing or the consumer has ended; `.timedOut` if
  ///   the server sends neither entries nor heartbeats.
  nonisolated(nonsending) func next() async throws(NATSFault) -> (NATSMessage, DeliveryFacts) {
    var isSilent = false
    while true {
      if requested == 0 {
        try await stream.connection.publish(request)
        requested = Self.batch
      }
      let message: NATSMessage
      do throws(NATSFault) {
        message = try await mailbox.next(within: Self.silenceMaximum, on: stream.connection.clock)
      } catch {
        // Server 2.9.10 does not report the expiry of every request.
        guard error == .timedOut, !isSilent else { throw error }
        (isSilent, requested) = (true, 0)
        continue
      }
      isSilent = false
      switch message.status {
      case nil: return (message, try await received(message))
      case 100: continue
      case 404, 408: requested = 0
      default: throw .connectionLost
      }
    }
  }

  private nonisolated(nonsending) func received(
    _ message: NATSMessage
  ) async throws(NATSFault) -> DeliveryFacts {
    guard let reply = message.reply, let facts = DeliveryFacts(subject: reply),
      facts.consumerSequence == lastConsumerSequence + 1
    else { throw .connectionLost }
    lastConsumerSequence = facts.consumerSequence
    requested -= 1
    // The acknowledgement covers all entries of the request.
    if requested == 0 {
      try await stream.connection.publish(
        NATSMessage(subject: reply, payload: Array("+ACK".utf8)))
    }
    return facts
  }
}
#endif
