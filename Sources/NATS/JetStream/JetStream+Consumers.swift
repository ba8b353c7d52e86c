#if Sites
/// The configuration of a durable pull consumer with explicit acknowledgement.
package struct ConsumerConfiguration: Hashable, Sendable {
  package var name: String
  /// The filter for the subjects of the consumer's messages. The filters of the consumers of a work
  /// queue must not overlap. Use wildcards only at the end, because server 2.9.10 does not detect
  /// other overlaps.
  package var filter: String
  /// The time after which the server repeats a delivery that was neither acknowledged nor renewed.
  package var acknowledgementLimit: Duration
  /// The maximum number of delivered messages that are not yet acknowledged.
  package var openMaximum: Int
  /// The maximum number of waiting pull requests.
  package var waitingMaximum: Int

  package init(
    name: String, filter: String, acknowledgementLimit: Duration = .seconds(45),
    openMaximum: Int = 1000, waitingMaximum: Int = 512
  ) {
    self.name = name
    self.filter = filter
    self.acknowledgementLimit = acknowledgementLimit
    self.openMaximum = openMaximum
    self.waitingMaximum = waitingMaximum
  }
}

extension ConsumerConfiguration: Codable {
  private enum CodingKeys: String, CodingKey {
    case name
    case durableName = "durable_name"
    case filter = "filter_subject"
    case acknowledgementLimit = "ack_wait"
    case openMaximum = "max_ack_pending"
    case waitingMaximum = "max_waiting"
    case acknowledgement = "ack_policy"
    case start = "deliver_policy"
    case replay = "replay_policy"
    case deliveriesMaximum = "max_deliver"
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .durableName)
    filter = try values.decodeIfPresent(String.self, forKey: .filter) ?? ">"
    acknowledgementLimit = .nanoseconds(
      try values.decode(Int64.self, forKey: .acknowledgementLimit))
    openMaximum = try values.decodeIfPresent(Int.self, forKey: .openMaximum) ?? 0
    waitingMaximum = try values.decodeIfPresent(Int.self, forKey: .waitingMaximum) ?? 0
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(name, forKey: .durableName)
    try values.encode(filter, forKey: .filter)
    try values.encode(acknowledgementLimit.nanoseconds, forKey: .acknowledgementLimit)
    try values.encode(openMaximum, forKey: .openMaximum)
    try values.encode(waitingMaximum, forKey: .waitingMaximum)
    try values.encode("explicit", forKey: .acknowledgement)
    try values.encode("all", forKey: .start)
    try values.encode("instant", forKey: .replay)
    // The number of deliveries is unlimited: a message that has reached a maximum would remain in
    // the stream, but would not be delivered again.
    try values.encode(-1, forKey: .deliveriesMaximum)
  }
}

/// The configuration and the state of a consumer.
package struct ConsumerState: Hashable, Sendable, Decodable {
  package let configuration: ConsumerConfiguration
  /// The number of delivered messages that are not acknowledged yet.
  package let open: Int
  package let redelivered: Int
  /// The number of waiting pull requests.
  package let waiting: Int
  /// The number of messages that were not delivered yet.
  package let pending: UInt64

  enum CodingKeys: String, CodingKey {
    case configuration = "config"
    case open = "num_ack_pending"
    case redelivered = "num_redelivered"
    case waiting = "num_waiting"
    case pending = "num_pending"
  }
}

/// The body of a request that creates a consumer.
struct ConsumerRequest<Configuration: Encodable>: Encodable {
  let stream: String
  let configuration: Configuration

  enum CodingKeys: String, CodingKey {
    case stream = "stream_name"
    case configuration = "config"
  }
}

extension JetStream {
  /// Creates a durable consumer. An existing consumer with the same configuration is kept.
  @discardableResult
  package func createConsumer(
    _ configuration: ConsumerConfiguration, of stream: String
  ) async throws(NATSFault) -> ConsumerState {
    try SubjectName.check(token: stream)
    try SubjectName.check(token: configuration.name)
    try SubjectName.check(filter: configuration.filter)
    // The older request subject is used, because it does not contain the filter, and a request
    // subject may not contain wildcards.
    return try await call(
      "CONSUMER.DURABLE.CREATE.\(stream).\(configuration.name)",
      ConsumerRequest(stream: stream, configuration: configuration))
  }

  package func consumer(
    _ name: String, of stream: String
  ) async throws(NATSFault) -> ConsumerState {
    try SubjectName.check(token: stream)
    try SubjectName.check(token: name)
    return try await call("CONSUMER.INFO.\(stream).\(name)")
  }

  private struct NamesRequest: Encodable { let offset: Int }
  private struct NamesReply: Decodable { let consumers: [String]? }

  /// The maximum number of pages of the list of consumers. A server returns 1024 names per page.
  private static let consumerPagesMaximum = 100

  /// Returns the names of the consumers of a stream, sorted.
  package func consumers(of stream: String) async throws(NATSFault) -> [String] {
    try SubjectName.check(token: stream)
    var names: [String] = []
    for _ in 0..<Self.consumerPagesMaximum {
      let reply: NamesReply = try await call(
        "CONSUMER.NAMES.\(stream)", NamesRequest(offset: names.count))
      guard let page = reply.consumers, !page.isEmpty else { break }
      names += page
    }
    return names.sorted()
  }

  package func deleteConsumer(_ name: String, of stream: String) async throws(NATSFault) {
    try SubjectName.check(token: stream)
    try SubjectName.check(token: name)
    try await perform("CONSUMER.DELETE.\(stream).\(name)")
  }

  private struct PullRequest: Encodable {
    let batch: Int
    /// The time limit in nanoseconds.
    let expires: Int64?
    let doesNotWait: Bool?

    enum CodingKeys: String, CodingKey {
      case batch, expires
      case doesNotWait = "no_wait"
    }
  }

  /// Waits at most `expiry` for a job of a consumer; returns `nil` if no job arrived. With an
  /// expiry of zero, the server answers immediately. Several tasks may wait. A job that arrives
  /// after its task was cancelled is returned to the server immediately.
  ///
  /// - Throws: the fault; this task then has no job. If the server had already sent a job, it
  ///   delivers the job again, after the acknowledgement limit at the latest.
  package func fetch(
    from consumer: String, of stream: String, expiry: Duration
  ) async throws(NATSFault) -> DeliveredMessage? {
    try SubjectName.check(token: stream)
    try SubjectName.check(token: consumer)
    // Each request is for one message, because the acknowledgement limit of a message also applies
    // while the message waits in the client.
    let waits = expiry > .zero
    let body = Self.encoded(
      PullRequest(
        batch: 1, expires: waits ? expiry.nanoseconds : nil, doesNotWait: waits ? nil : true))
    let request = NATSMessage(
      subject: "\(prefix).CONSUMER.MSG.NEXT.\(stream).\(consumer)", payload: body)
    let message: NATSMessage
    do throws(NATSFault) {
      message = try await connection.request(
        request, within: expiry + connection.options.callLimit,
        pulling: ConsumerName(stream: stream, consumer: consumer))
    } catch {
      guard error == .timedOut else { throw error }
      // Server 2.9.10 does not always report that a request has expired, and sends no answer for a
      // consumer that does not exist.
      _ = try await self.consumer(consumer, of: stream)
      return nil
    }
    switch message.status {
    case nil: return try DeliveredMessage(message, of: connection)
    case 404, 408: return nil
    case let status?: throw .refused(JetStreamRefusal(status: status, text: message.statusText))
    }
  }
}
#endif
