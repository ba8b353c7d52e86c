#if Sites
import FoundationEssentials

/// The configuration and the content of a stream.
package struct StreamState: Hashable, Sendable, Decodable {
  package struct Content: Hashable, Sendable, Decodable {
    package let messages: UInt64
    package let bytes: UInt64
    package let firstSequence: UInt64
    package let lastSequence: UInt64
    package let consumers: Int
    /// The number of messages of each subject that matches the filter of the request.
    package let subjects: [String: UInt64]?

    enum CodingKeys: String, CodingKey {
      case messages, bytes, subjects
      case firstSequence = "first_seq"
      case lastSequence = "last_seq"
      case consumers = "consumer_count"
    }
  }

  package let configuration: StreamConfiguration
  package let content: Content

  enum CodingKeys: String, CodingKey {
    case configuration = "config"
    case content = "state"
  }
}

/// A message that a stream stores.
package struct StoredMessage: Hashable, Sendable {
  package let subject: String
  package let sequence: UInt64
  package let headers: [String: String]
  package let payload: [UInt8]
}

extension JetStream {
  /// Creates a stream. An existing stream with the same configuration is kept.
  ///
  /// - Throws: `.refused` with `streamExists` if the stream exists with another configuration.
  @discardableResult
  package func createStream(
    _ configuration: StreamConfiguration
  ) async throws(NATSFault) -> StreamState {
    try SubjectName.check(token: configuration.name)
    return try await call("STREAM.CREATE.\(configuration.name)", configuration)
  }

  /// Changes the configuration of a stream.
  @discardableResult
  package func updateStream(
    _ configuration: StreamConfiguration
  ) async throws(NATSFault) -> StreamState {
    try SubjectName.check(token: configuration.name)
    return try await call("STREAM.UPDATE.\(configuration.name)", configuration)
  }

  /// Creates a stream, or changes the configuration of an existing stream.
  @discardableResult
  package func ensureStream(
    _ configuration: StreamConfiguration
  ) async throws(NATSFault) -> StreamState {
    do throws(NATSFault) {
      return try await createStream(configuration)
    } catch {
      guard case .refused(let refusal) = error, refusal.number == JetStreamRefusal.streamExists
      else { throw error }
      return try await updateStream(configuration)
    }
  }

  package func stream(_ name: String) async throws(NATSFault) -> StreamState {
    try SubjectName.check(token: name)
    return try await call("STREAM.INFO.\(name)")
  }

  private struct SubjectsRequest: Encodable {
    let filter: String
    let offset: Int
    enum CodingKeys: String, CodingKey {
      case filter = "subjects_filter"
      case offset
    }
  }

  /// The maximum number of pages of the subject list. A server returns up to 100,000 subjects per
  /// page.
  private static let pagesMaximum = 100

  /// Returns the number of stored messages of each subject that matches the filter.
  package func messages(
    in stream: String, matching filter: String
  ) async throws(NATSFault) -> [String: UInt64] {
    try SubjectName.check(token: stream)
    try SubjectName.check(filter: filter)
    var found: [String: UInt64] = [:]
    for _ in 0..<Self.pagesMaximum {
      let state: StreamState = try await call(
        "STREAM.INFO.\(stream)", SubjectsRequest(filter: filter, offset: found.count))
      let before = found.count
      found.merge(state.content.subjects ?? [:]) { _, new in new }
      guard found.count > before, state.content.subjects?.count ?? 0 >= 100_000 else { break }
    }
    return found
  }

  package func deleteStream(_ name: String) async throws(NATSFault) {
    try SubjectName.check(token: name)
    try await perform("STREAM.DELETE.\(name)")
  }

  private struct PurgeRequest: Encodable { let filter: String }

  /// Removes the messages of all subjects that match a filter. Do not use this function for a work
  /// queue: afterwards, server 2.9.10 does not deliver the messages of other subjects.
  func purge(_ stream: String, matching filter: String) async throws(NATSFault) {
    try SubjectName.check(token: stream)
    try SubjectName.check(filter: filter)
    try await perform("STREAM.PURGE.\(stream)", PurgeRequest(filter: filter))
  }

  private struct MessageRequest: Encodable {
    var sequence: UInt64?
    var lastOf: String?
    var doesNotErase: Bool?
    enum CodingKeys: String, CodingKey {
      case sequence = "seq"
      case lastOf = "last_by_subj"
      case doesNotErase = "no_erase"
    }
  }

  private struct MessageReply: Decodable {
    struct Message: Decodable {
      let subject: String
      let sequence: UInt64
      let headers: Data?
      let payload: Data?
      enum CodingKeys: String, CodingKey {
        case subject
        case sequence = "seq"
        case headers = "hdrs"
        case payload = "data"
      }
    }
    let message: Message
  }

  /// Returns the last message of a subject; `nil` if there is no message. The leader of the stream
  /// answers, so the result is never an older message.
  package func lastMessage(
    in stream: String, of subject: String
  ) async throws(NATSFault) -> StoredMessage? {
    try SubjectName.check(subject: subject)
    return try await message(in: stream, MessageRequest(lastOf: subject))
  }

  /// Returns the message with a sequence number; `nil` if the stream has no such message.
  package func message(
    in stream: String, sequence: UInt64
  ) async throws(NATSFault) -> StoredMessage? {
    try await message(in: stream, MessageRequest(sequence: sequence))
  }

  private func message(
    in stream: String, _ request: MessageRequest
  ) async throws(NATSFault) -> StoredMessage? {
    try SubjectName.check(token: stream)
    do throws(NATSFault) {
      let reply: MessageReply = try await call("STREAM.MSG.GET.\(stream)", request)
      let message = reply.message
      return StoredMessage(
        subject: message.subject, sequence: message.sequence,
        headers: Self.headers(Array(message.headers ?? Data())),
        payload: Array(message.payload ?? Data()))
    } catch {
      guard case .refused(let refusal) = error,
        refusal.number == JetStreamRefusal.messageNotFound
      else { throw error }
      return nil
    }
  }

  /// Decodes the line `NATS/1.0` and the following lines, one for each header.
  static func headers(_ bytes: [UInt8]) -> [String: String] {
    var headers: [String: String] = [:]
    // Swift treats a carriage return and a line feed as one character.
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers[String(line[..<colon])] = String(value)
    }
    return headers
  }

  /// Deletes a message; returns `false` if the message does not exist. A job is cancelled by its
  /// sequence number, because server 2.9.10 does not deliver the messages of other subjects after
  /// the messages of one subject are purged.
  package func deleteMessage(
    in stream: String, sequence: UInt64
  ) async throws(NATSFault) -> Bool {
    try SubjectName.check(token: stream)
    do throws(NATSFault) {
      try await perform(
        "STREAM.MSG.DELETE.\(stream)", MessageRequest(sequence: sequence, doesNotErase: true))
      return true
    } catch {
      guard case .refused(let refusal) = error,
        [JetStreamRefusal.messageNotFound, JetStreamRefusal.sequenceNotFound, 10057]
          .contains(refusal.number)
      else { throw error }
      return false
    }
  }
}
#endif
