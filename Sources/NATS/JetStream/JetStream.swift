#if Sites
import FoundationEssentials

/// The JetStream API of an account: requests in JSON over a connection.
package struct JetStream: Sendable {
  let connection: NATSConnection
  /// The first tokens of all request subjects.
  let prefix: String
  let isRemote: Bool

  /// - Parameter domain: the domain of a hub, for a client of a leaf node; `nil` = the domain of
  ///   the server.
  package init(_ connection: NATSConnection, domain: String? = nil) throws(NATSFault) {
    if let domain { try SubjectName.check(token: domain) }
    self.connection = connection
    prefix = domain.map { "$JS.\($0).API" } ?? "$JS.API"
    isRemote = domain != nil
  }

  /// The server's confirmation that a message is stored.
  package struct Confirmation: Hashable, Sendable, Codable {
    package let stream: String
    package let sequence: UInt64
    /// Whether the stream already had a message with the same id.
    package let isDuplicate: Bool

    enum CodingKeys: String, CodingKey {
      case stream
      case sequence = "seq"
      case isDuplicate = "duplicate"
    }

    package init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      stream = try values.decode(String.self, forKey: .stream)
      sequence = try values.decode(UInt64.self, forKey: .sequence)
      isDuplicate = try values.decodeIfPresent(Bool.self, forKey: .isDuplicate) ?? false
    }
  }

  /// Stores a message in the stream of its subject.
  ///
  /// - Parameters:
  ///   - id: identifies the message; the stream ignores a message with the same id within its
  ///   `duplicateWindow`.
  ///   - lastSequence: the expected sequence number of the subject's last message; 0 = no message.
  @discardableResult
  package func publish(
    _ message: NATSMessage, id: String? = nil, expecting lastSequence: UInt64? = nil
  ) async throws(NATSFault) -> Confirmation {
    var message = message
    if let id { message.headers["Nats-Msg-Id"] = id }
    if let lastSequence {
      message.headers["Nats-Expected-Last-Subject-Sequence"] = String(lastSequence)
    }
    return try Self.content(of: try await connection.request(message))
  }

  // MARK: - Requests

  /// Sends a request that may be executed several times, and decodes its reply.
  ///
  /// - Parameter limit: the time limit of the reply; `nil` = `callLimit`.
  func call<Reply: Decodable>(
    _ subject: String, _ body: some Encodable, within limit: Duration? = nil
  ) async throws(NATSFault) -> Reply {
    try Self.content(
      of: try await connection.query(message(subject, Self.encoded(body)), within: limit))
  }

  func call<Reply: Decodable>(_ subject: String) async throws(NATSFault) -> Reply {
    try Self.content(of: try await connection.query(message(subject)))
  }

  /// Sends a request once; its reply states only whether the request succeeded. A removal must not
  /// be repeated, because a late repetition would remove what was stored after the first reply.
  func perform(_ subject: String, _ body: some Encodable) async throws(NATSFault) {
    let _: Success = try Self.content(
      of: try await connection.request(message(subject, Self.encoded(body))))
  }

  func perform(_ subject: String) async throws(NATSFault) {
    let _: Success = try Self.content(of: try await connection.request(message(subject)))
  }

  private func message(_ subject: String, _ payload: [UInt8] = []) -> NATSMessage {
    NATSMessage(subject: "\(prefix).\(subject)", payload: payload)
  }

  static func encoded(_ body: some Encodable) -> [UInt8] {
    do { return Array(try JSONEncoder().encode(body)) } catch {
      preconditionFailure("a request cannot be encoded: \(error)")
    }
  }

  private struct Success: Decodable {}

  /// The content of a reply, or the refusal in its place.
  private struct Reply<Content: Decodable>: Decodable {
    private enum CodingKeys: CodingKey { case error }

    let content: Content

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      if let refusal = try values.decodeIfPresent(JetStreamRefusal.self, forKey: .error) {
        throw NATSFault.refused(refusal)
      }
      content = try Content(from: decoder)
    }
  }

  static func content<Content: Decodable>(of reply: NATSMessage) throws(NATSFault) -> Content {
    do {
      return try JSONDecoder().decode(Reply<Content>.self, from: Data(reply.payload)).content
    } catch let fault as NATSFault {
      throw fault
    } catch {
      throw .malformedReply("\(error)")
    }
  }
}
#endif
