#if Sites
/// A connection to a NATS server or cluster. When the connection is lost, calls that wait for a
/// reply fail; new calls wait for the connection within a time limit. libnats tries to reconnect
/// indefinitely, except after some errors, such as a key that the server has refused twice; the
/// next call then connects again.
///
/// A failed call throws a `NATSFault`. The property `effect` of the fault states whether the
/// request may have taken effect. Cancellation of a task ends its wait; only a blocked socket
/// delays the cancellation, by at most two seconds.
package final class NATSConnection: Sendable {
  let options: NATSOptions
  let clock: any Clock<Duration>
  let switchboard: Switchboard
  private let wire: Wire

  /// Connects to the first server that accepts the connection.
  package init(_ options: NATSOptions, clock: any Clock<Duration>) async throws(NATSFault) {
    try SubjectName.check(subject: options.inboxPrefix)
    self.options = options
    self.clock = clock
    switchboard = Switchboard(inboxPrefix: options.inboxPrefix)
    wire = try Wire(options, switchboard)
    try await wire.connect()
  }

  /// Closes the connection. Waiting and later calls fail with `.closed`.
  package func close() async { await wire.close() }

  /// Whether the client is connected to a server now.
  package var isConnected: Bool { switchboard.phase == .connected }

  /// Waits at most `callLimit` while libnats tries to reconnect. If libnats no longer tries to
  /// reconnect, connects again.
  ///
  /// - Throws: `.notConnected`, `.closed`, `.cancelled`, or the fault of the new connection.
  package func ready() async throws(NATSFault) {
    try await switchboard.connection(within: options.callLimit, on: clock)
    switch switchboard.phase {
    case .connected: return
    // The connection was lost again before this task resumed.
    case .disconnected: throw .notConnected
    case .ended: try await wire.connect()
    case .closed: throw .closed
    }
  }

  /// Returns the largest payload that the server accepts, in bytes.
  package func payloadMaximum() async -> Int { await wire.payloadMaximum() }

  /// Sends a message without confirmation, so the message may be lost.
  package func publish(_ message: NATSMessage) async throws(NATSFault) {
    try SubjectName.check(subject: message.subject)
    guard !Task.isCancelled else { throw .cancelled(isSent: false) }
    try await ready()
    try await wire.send(message)
  }

  /// Sends a request and returns its reply. The field `reply` of the message is replaced.
  package func request(_ message: NATSMessage) async throws(NATSFault) -> NATSMessage {
    try await request(message, within: options.callLimit)
  }

  /// Sends a request that may be executed several times, and repeats it until a reply arrives, at
  /// intervals of a fifth of `callLimit`. While the servers elect a leader, they neither answer nor
  /// store a request.
  ///
  /// - Parameter limit: the time limit of the reply; `nil` = `callLimit`.
  package func query(
    _ message: NATSMessage, within limit: Duration? = nil
  ) async throws(NATSFault) -> NATSMessage {
    try await request(
      message, within: limit ?? options.callLimit, repeatedEvery: options.callLimit / 5)
  }

  /// Sends a request and returns its reply or, with `name`, a job of that consumer. Waits for the
  /// connection, and then at most `limit` for the reply.
  ///
  /// - Parameter interval: the interval at which the request is sent again until a reply arrives;
  ///   `nil` = the request is sent once.
  func request(
    _ message: NATSMessage, within limit: Duration, pulling name: ConsumerName? = nil,
    repeatedEvery interval: Duration? = nil
  ) async throws(NATSFault) -> NATSMessage {
    try SubjectName.check(subject: message.subject)
    guard !Task.isCancelled else { throw .cancelled(isSent: false) }
    try await ready()
    let mailbox = Mailbox(capacity: 1)
    let number = switchboard.open(mailbox, for: message.subject, pulling: name)
    defer { switchboard.close(number, pulling: name) }
    var message = message
    message.reply = switchboard.replySubject(number)
    try await wire.send(message)
    var remaining = limit
    while let interval, interval < remaining {
      do throws(NATSFault) {
        return try Self.answered(message, try await mailbox.next(within: interval, on: clock))
      } catch {
        guard error == .timedOut else { throw error }
      }
      remaining -= interval
      try await wire.send(message)
    }
    return try Self.answered(message, try await mailbox.next(within: remaining, on: clock))
  }

  private static func answered(
    _ message: NATSMessage, _ reply: NATSMessage
  ) throws(NATSFault) -> NATSMessage {
    // The status "no responders" has no content.
    guard reply.status != 503 else { throw .noResponders(message.subject) }
    return reply
  }
}
#endif
