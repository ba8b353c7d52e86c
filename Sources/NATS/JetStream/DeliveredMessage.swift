#if Sites
/// A message that a consumer delivered. The server delivers the message again unless it is
/// acknowledged or renewed in time. Several workers can acknowledge a message: the acknowledgement
/// of an earlier delivery also succeeds, and removes the message.
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

  /// The sequence number of the message in the stream.
  package var sequence: UInt64 { facts.sequence }
  /// The number of deliveries of this message so far. The number is not durable: after a server was
  /// killed, the number restarts at 1.
  package var deliveries: Int { facts.deliveries }

  /// Acknowledges the message; returns when the server has confirmed the acknowledgement.
  package func acknowledge() async throws(NATSFault) { try await send("+ACK") }

  /// Restarts the acknowledgement limit of the message.
  package func renew() async throws(NATSFault) { try await send("+WPI") }

  /// Returns the message to the server, which delivers it again after `delay` or later.
  package func giveBack(after delay: Duration = .zero) async throws(NATSFault) {
    try await send(delay == .zero ? "-NAK" : "-NAK {\"delay\": \(delay.nanoseconds)}")
  }

  /// Marks the message as failed; a work queue removes it.
  package func terminate() async throws(NATSFault) { try await send("+TERM") }

  private func send(_ text: String) async throws(NATSFault) {
    _ = try await connection.request(NATSMessage(subject: reply, payload: Array(text.utf8)))
  }
}
#endif
