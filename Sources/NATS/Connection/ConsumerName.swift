#if Sites
/// The name of a consumer and its stream.
struct ConsumerName: Hashable, Sendable {
  let stream: String
  let consumer: String
}

/// The properties of a delivery, decoded from the tokens of its acknowledgement subject:
/// `$JS.ACK.[DOMAIN.ACCOUNT.]STREAM.CONSUMER.DELIVERIES.SEQUENCE.COUNT.TIME.PENDING` and possibly a
/// random token.
struct DeliveryFacts: Hashable, Sendable {
  let name: ConsumerName
  /// The number of deliveries of this message so far. The number is not durable: after a server was
  /// killed, the number restarts at 1.
  let deliveries: Int
  let sequence: UInt64
  let consumerSequence: UInt64
  /// The number of messages of the stream that the consumer has not delivered yet.
  let pending: UInt64

  /// Decodes an acknowledgement subject; returns `nil` for any other subject.
  init?(subject: String) {
    guard subject.hasPrefix("$JS.ACK.") else { return nil }
    let tokens = subject.split(separator: ".")
    // 9 tokens without domain and account, otherwise 11, or 12 with a random token.
    let first = tokens.count == 9 ? 2 : 4
    guard tokens.count == 9 || tokens.count == 11 || tokens.count == 12,
      let deliveries = Int(tokens[first + 2]), let sequence = UInt64(tokens[first + 3]),
      let consumerSequence = UInt64(tokens[first + 4]), let pending = UInt64(tokens[first + 6])
    else { return nil }
    name = ConsumerName(stream: String(tokens[first]), consumer: String(tokens[first + 1]))
    self.deliveries = deliveries
    self.sequence = sequence
    self.consumerSequence = consumerSequence
    self.pending = pending
  }
}
#endif
