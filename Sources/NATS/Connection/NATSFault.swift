#if Sites
/// The reason why a call to the message broker failed.
package enum NATSFault: Error, Hashable, Sendable {
  /// The effect of the failed request. `unknown`: the request may have reached the server, and may
  /// take effect even after a later read. The caller must not conclude from a read that the request
  /// had no effect, but can repeat a compare-and-set with the same expected revision.
  package enum Effect: Hashable, Sendable { case none, unknown }

  /// A subject, key or name that no server accepts.
  case invalidName(String)
  /// The file with the key cannot be used.
  case credentials(String)
  /// No server accepts connections.
  case unreachable(String)
  /// The server refused the key.
  case authenticationRefused(String)
  /// The TLS handshake failed: the certificate is not trusted, or belongs to another server.
  case untrusted(String)
  /// `close()` was called on the connection.
  case closed
  /// The connection was lost before the request was sent, and was not restored within the time
  /// limit.
  case notConnected
  /// The server does not accept a message of this size.
  case tooLarge(bytes: Int)
  /// The account may not publish to the subject, or subscribe to it.
  case notPermitted(String)
  /// No stream or consumer exists that receives requests to the subject.
  case noResponders(String)
  /// JetStream refused the request.
  case refused(JetStreamRefusal)
  /// The connection was lost after the request was sent.
  case connectionLost
  /// The reply did not arrive within the time limit.
  case timedOut
  /// The task was cancelled.
  case cancelled(isSent: Bool)
  /// The reply cannot be decoded.
  case malformedReply(String)
  /// The process has no thread or descriptor left, or libnats cannot start.
  case system(String)

  /// Whether the request may have taken effect.
  package var effect: Effect {
    switch self {
    case .invalidName, .credentials, .unreachable, .authenticationRefused, .untrusted, .closed,
      .notConnected, .tooLarge, .notPermitted, .noResponders, .refused, .system,
      .cancelled(isSent: false):
      .none
    case .connectionLost, .timedOut, .cancelled(isSent: true), .malformedReply: .unknown
    }
  }

  /// Whether the cause may be a cluster that is starting: it has no leader yet, or a server is
  /// missing.
  package var isOfStartingServers: Bool {
    switch self {
    case .timedOut, .notConnected, .connectionLost: true
    case .refused(let refusal):
      [JetStreamRefusal.tooFewServers, JetStreamRefusal.notAvailable].contains(refusal.number)
    default: false
    }
  }
}

/// The reason why JetStream refused a request.
package struct JetStreamRefusal: Hashable, Sendable, Codable {
  /// The status, as in HTTP, such as 404.
  package let status: Int
  /// The number of the error (`err_code`); 0 for the status of a pull request.
  package let number: Int
  package let text: String

  /// 10005: fewer servers are connected than the stream has replicas.
  package static let tooFewServers = 10005
  /// 10008: the servers have no leader.
  package static let notAvailable = 10008
  /// 10071: the entry or subject has another revision than expected.
  package static let wrongLastSequence = 10071
  /// 10077: the stream did not store the message; with "discard new per subject", the subject is
  /// full.
  package static let notStored = 10077
  package static let streamExists = 10058
  package static let streamNotFound = 10059
  package static let consumerNotFound = 10014
  package static let messageNotFound = 10037
  /// 10043: no message of the stream has the sequence.
  package static let sequenceNotFound = 10043

  enum CodingKeys: String, CodingKey {
    case status = "code"
    case number = "err_code"
    case text = "description"
  }

  package init(status: Int, number: Int = 0, text: String) {
    self.status = status
    self.number = number
    self.text = text
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    status = try values.decode(Int.self, forKey: .status)
    number = try values.decodeIfPresent(Int.self, forKey: .number) ?? 0
    text = try values.decodeIfPresent(String.self, forKey: .text) ?? ""
  }
}

extension NATSFault: CustomStringConvertible {
  /// The fault, as a clause.
  package var description: String {
    switch self {
    case .invalidName(let name): "'\(name)' is not a valid name or subject"
    case .credentials(let reason): reason
    case .unreachable(let reason): "no server can be reached: \(reason)"
    case .authenticationRefused(let reason): "the server refused the key: \(reason)"
    case .untrusted(let reason): "the server is not trusted: \(reason)"
    case .closed: "the connection is closed"
    case .notConnected: "the connection to the server is lost"
    case .tooLarge(let bytes): "the server does not accept a message of \(bytes) bytes"
    case .notPermitted(let subject): "the account has no permission for \(subject)"
    case .noResponders(let subject): "no stream or consumer receives requests to \(subject)"
    case .refused(let refusal): "the server refused: \(refusal.text) (\(refusal.number))"
    case .connectionLost: "the connection was lost; the request may have taken effect"
    case .timedOut: "the server did not reply in time; the request may have taken effect"
    case .cancelled(isSent: false): "the task was cancelled"
    case .cancelled(isSent: true): "the task was cancelled; the request may have taken effect"
    case .malformedReply(let reason): "the server's reply is malformed: \(reason)"
    case .system(let reason): "the NATS client cannot start: \(reason)"
    }
  }
}
#endif
