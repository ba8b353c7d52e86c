#if Sites
/// The changes of a bucket: first the entries that exist, then `.current`, then each change. A lost
/// connection, a gap and a reader that is too slow are repaired with another consumer, which continues
/// after the last revision. So no last revision of a key is lost, but with a history of 1 not every
/// earlier one is reported.
package struct KeyValueWatch: AsyncSequence, Sendable {
  package enum Element: Hashable, Sendable {
    /// A revision; also a deletion.
    case entry(KeyValueEntry)
    /// All entries that existed at the start were reported.
    case current
  }

  let bucket: KeyValueBucket
  let keys: String
  let includesHistory: Bool

  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

  package struct AsyncIterator: AsyncIteratorProtocol {
    /// Entries that wait for the reader.
    private static let capacity = 1024
    static let heartbeat = Duration.seconds(5)
    /// Consumers without an entry or heartbeat, until the watch fails.
    private static let failuresMaximum = 5

    private let watch: KeyValueWatch
    private var source: Source?
    private var lastRevision: UInt64 = 0
    private var isCurrent = false
    private var mustReportCurrent = false

    fileprivate init(_ watch: KeyValueWatch) { self.watch = watch }

    /// Returns the next change. Waits indefinitely, until the task is cancelled.
    ///
    /// - Throws: a fault that another attempt would not repair, `.cancelled`, or `.closed`.
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
          let message = try await source.next()
          failures = 0
          guard let facts = try source.facts(of: message) else { continue }
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
          // The outage may be long; `ready` has waited.
          case .notConnected: break
          default: throw error
          }
        }
      }
    }

    private nonisolated(nonsending) mutating func openSource() async throws(NATSFault) -> Source {
      if let source { return source }
      let (source, pending) = try await Source.open(
        watch, after: lastRevision, capacity: Self.capacity)
      if pending == 0, !isCurrent { mustReportCurrent = true }
      self.source = source
      return source
    }
  }
}

/// A consumer that pushes the entries of a watch; its server removes it after the watch.
private final class Source {
  private struct Configuration: Encodable {
    var name: String
    var subject: String
    var filter: String
    var start: String
    var firstSequence: UInt64?
    var heartbeat: Int64
    var lifetime: Int64
    var acknowledgement = "none"
    var replay = "instant"
    var deliveriesMaximum = 1
    var isInMemory = true
    var replicas = 1

    enum CodingKeys: String, CodingKey {
      case name
      case subject = "deliver_subject"
      case filter = "filter_subject"
      case start = "deliver_policy"
      case firstSequence = "opt_start_seq"
      case heartbeat = "idle_heartbeat"
      case lifetime = "inactive_threshold"
      case acknowledgement = "ack_policy"
      case replay = "replay_policy"
      case deliveriesMaximum = "max_deliver"
      case isInMemory = "mem_storage"
      case replicas = "num_replicas"
    }
  }

  private struct Reply: Decodable {
    struct Delivered: Decodable {
      let count: UInt64
      enum CodingKeys: String, CodingKey { case count = "consumer_seq" }
    }
    let pending: UInt64
    let delivered: Delivered
    enum CodingKeys: String, CodingKey {
      case delivered
      case pending = "num_pending"
    }
  }

  private static let lifetime = Duration.seconds(30)
  private static let silenceMaximum = KeyValueWatch.AsyncIterator.heartbeat * 3

  private let stream: JetStream
  private let name: ConsumerName
  private let mailbox: Mailbox
  private var lastConsumerSequence: UInt64 = 0

  private init(_ stream: JetStream, _ name: ConsumerName, capacity: Int) {
    self.stream = stream
    self.name = name
    mailbox = Mailbox(capacity: capacity)
    stream.connection.switchboard.openWatch(name, mailbox)
  }

  deinit {
    stream.connection.switchboard.closeWatch(
      name, request: "\(stream.prefix).CONSUMER.DELETE.\(name.stream).\(name.consumer)")
  }

  /// Creates the consumer; also returns the number of entries that exist.
  static nonisolated(nonsending) func open(
    _ watch: KeyValueWatch, after revision: UInt64, capacity: Int
  ) async throws(NATSFault) -> (Source, pending: UInt64) {
    try SubjectName.check(filter: watch.keys)
    let stream = watch.bucket.stream
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    let name = ConsumerName(
      stream: "KV_\(watch.bucket.name)", consumer: Switchboard.watchPrefix + number)
    let source = Source(stream, name, capacity: capacity)
    let configuration = Configuration(
      name: name.consumer, subject: stream.connection.switchboard.watchSubject(name),
      filter: watch.bucket.subject(watch.keys),
      start: revision > 0
        ? "by_start_sequence" : watch.includesHistory ? "all" : "last_per_subject",
      firstSequence: revision > 0 ? revision + 1 : nil,
      heartbeat: KeyValueWatch.AsyncIterator.heartbeat.nanoseconds,
      lifetime: lifetime.nanoseconds)
    let reply: Reply = try await stream.call(
      "CONSUMER.CREATE.\(name.stream).\(name.consumer)",
      ConsumerRequest(stream: name.stream, configuration: configuration))
    // The server may push entries before it replies.
    return (source, reply.pending + reply.delivered.count)
  }

  nonisolated(nonsending) func next() async throws(NATSFault) -> NATSMessage {
    try await mailbox.next(within: Self.silenceMaximum, on: stream.connection.clock)
  }

  /// Returns the facts about an entry; `nil` for a heartbeat.
  ///
  /// - Throws: `.connectionLost` if an entry is missing, or the consumer has ended.
  func facts(of message: NATSMessage) throws(NATSFault) -> DeliveryFacts? {
    if let status = message.status {
      let last = message.headers["Nats-Last-Consumer"].flatMap { UInt64($0) }
      guard status == 100, last == nil || last == lastConsumerSequence else {
        throw .connectionLost
      }
      return nil
    }
    guard let facts = message.reply.flatMap({ DeliveryFacts(subject: $0) }),
      facts.consumerSequence == lastConsumerSequence + 1
    else { throw .connectionLost }
    lastConsumerSequence = facts.consumerSequence
    return facts
  }
}
#endif
