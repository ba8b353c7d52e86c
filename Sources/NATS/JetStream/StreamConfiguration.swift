#if Sites
/// The configuration of a stream. A limit of −1 means unlimited.
package struct StreamConfiguration: Hashable, Sendable {
  package enum Retention: String, Hashable, Sendable, Codable {
    case limits, interest
    /// A message belongs to one consumer, and is removed when it is acknowledged.
    case workQueue = "workqueue"
  }
  package enum Storage: String, Hashable, Sendable, Codable { case file, memory }
  package enum Discard: String, Hashable, Sendable, Codable { case old, new }

  package var name: String
  package var subjects: [String]
  package var retention = Retention.limits
  package var storage = Storage.file
  package var maximumMessages: Int64 = -1
  package var maximumMessagesPerSubject: Int64 = -1
  package var maximumBytes: Int64 = -1
  package var maximumMessageBytes: Int32 = -1
  /// The maximum age of messages; zero = unlimited.
  package var maximumAge = Duration.zero
  package var discard = Discard.old
  /// Whether a message is refused with the number `notStored` if the maximum number of messages of
  /// its subject is reached; requires `discard` new.
  package var discardsNewPerSubject = false
  /// The time for which the server recognizes a repeated message id. After a restart, the server no
  /// longer knows the ids of acknowledged messages.
  package var duplicateWindow = Duration.seconds(120)
  package var replicas = 1
  /// Whether any replica answers reads; a replica may return an older message.
  package var allowsDirectReads = true
  package var deniesDeletion = false
  package var allowsRollup = false
  package var sources: [StreamSource] = []

  package init(name: String, subjects: [String]) {
    self.name = name
    self.subjects = subjects
  }
}

/// A stream whose messages are copied. The stream may be in another domain, such as the domain of a
/// leaf node.
package struct StreamSource: Hashable, Sendable {
  package var name: String
  package var domain: String?

  package init(name: String, domain: String? = nil) {
    self.name = name
    self.domain = domain
  }
}

extension StreamSource: Codable {
  private enum CodingKeys: String, CodingKey { case name, external }
  private struct External: Codable {
    var api: String
    var deliver: String
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    name = try values.decode(String.self, forKey: .name)
    let tokens = try values.decodeIfPresent(External.self, forKey: .external)?.api
      .split(separator: ".")
    domain = tokens.flatMap { $0.count == 3 ? String($0[1]) : nil }
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    guard let domain else { return }
    try values.encode(External(api: "$JS.\(domain).API", deliver: ""), forKey: .external)
  }
}

extension StreamConfiguration: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, subjects, retention, storage, discard, sources
    case maximumMessages = "max_msgs"
    case maximumMessagesPerSubject = "max_msgs_per_subject"
    case maximumBytes = "max_bytes"
    case maximumMessageBytes = "max_msg_size"
    case maximumAge = "max_age"
    case discardsNewPerSubject = "discard_new_per_subject"
    case duplicateWindow = "duplicate_window"
    case replicas = "num_replicas"
    case allowsDirectReads = "allow_direct"
    case deniesDeletion = "deny_delete"
    case allowsRollup = "allow_rollup_hdrs"
  }

  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func value<Value: Decodable>(_ key: CodingKeys, or other: Value) throws -> Value {
      try values.decodeIfPresent(Value.self, forKey: key) ?? other
    }
    self.init(
      name: try values.decode(String.self, forKey: .name), subjects: try value(.subjects, or: []))
    retention = try value(.retention, or: .limits)
    storage = try value(.storage, or: .file)
    maximumMessages = try value(.maximumMessages, or: -1)
    maximumMessagesPerSubject = try value(.maximumMessagesPerSubject, or: -1)
    maximumBytes = try value(.maximumBytes, or: -1)
    maximumMessageBytes = try value(.maximumMessageBytes, or: -1)
    maximumAge = .nanoseconds(try value(.maximumAge, or: Int64(0)))
    discard = try value(.discard, or: .old)
    discardsNewPerSubject = try value(.discardsNewPerSubject, or: false)
    duplicateWindow = .nanoseconds(try value(.duplicateWindow, or: Int64(0)))
    replicas = try value(.replicas, or: 1)
    allowsDirectReads = try value(.allowsDirectReads, or: false)
    deniesDeletion = try value(.deniesDeletion, or: false)
    allowsRollup = try value(.allowsRollup, or: false)
    sources = try value(.sources, or: [])
  }

  package func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    if !subjects.isEmpty { try values.encode(subjects, forKey: .subjects) }
    try values.encode(retention, forKey: .retention)
    try values.encode(storage, forKey: .storage)
    try values.encode(maximumMessages, forKey: .maximumMessages)
    try values.encode(maximumMessagesPerSubject, forKey: .maximumMessagesPerSubject)
    try values.encode(maximumBytes, forKey: .maximumBytes)
    try values.encode(maximumMessageBytes, forKey: .maximumMessageBytes)
    try values.encode(maximumAge.nanoseconds, forKey: .maximumAge)
    try values.encode(discard, forKey: .discard)
    try values.encode(discardsNewPerSubject, forKey: .discardsNewPerSubject)
    try values.encode(duplicateWindow.nanoseconds, forKey: .duplicateWindow)
    try values.encode(replicas, forKey: .replicas)
    try values.encode(allowsDirectReads, forKey: .allowsDirectReads)
    try values.encode(deniesDeletion, forKey: .deniesDeletion)
    try values.encode(allowsRollup, forKey: .allowsRollup)
    if !sources.isEmpty { try values.encode(sources, forKey: .sources) }
  }
}
#endif
