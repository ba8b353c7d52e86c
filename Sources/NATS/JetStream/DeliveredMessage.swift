#if Sites
/// A message that a consumer delivered. The server repeats it unless it is acknowledged or renewed
/// in time. An acknowledgement is not exclusive: that of an earlier delivery succeeds, too, and
/// removes the message.
package struct DeliveredMessage: Sendable {
  package let message: NATSMessage
  private let connection: NATSConnection
  private let reply: String
  private let facts: DeliveryFacts

  init(_ message: NATSMessage, of connection: NATSConnection) throws(NATSFault) {
    guard let reply = message.reply, let facts = DeliveryFacts(subject: reply) else {
      throw .malformedReply("a delivery without acknowledgement subject")
    }
    self.message = message
    self.connection = connection
    self.reply = reply
    self.facts = facts
  }

  /// The sequence in the stream.
  package var sequence: UInt64 { facts.sequence }
  /// 1 for the first delivery. Not durable: a server that was killed counts from 1 again.
  package var deliveries: Int { facts.deliveries }

  /// Ends the message; returns when the server has confirmed it.
  package func acknowledge() async throws(NATSFault) { try await send("+ACK") }

  /// Restarts the consumer's time limit.
  package func renew() async throws(NATSFault) { try await send("+WPI") }

  /// Returns the message: it is delivered again, at the earliest after `delay`.
  package func giveBack(after delay: Duration = .zero) async throws(NATSFault) {
    try await send(delay == .zero ? "-NAK" : "-NAK {\"delay\": \(delay.nanoseconds)}")
  }

  /// Ends the message as failed; a work queue removes it.
  package func terminate() async throws(NATSFault) { try await send("+TERM") }

  private func send(_ text: String) async throws(NATSFault) {
    _ = try await connection.request(NATSMessage(subject: reply, payload: Array(text.utf8)))
  }
}
#endif
