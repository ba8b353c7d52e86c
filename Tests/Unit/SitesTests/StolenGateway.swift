#if Sites
import Foundation
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSites
import Testing

/// A server with the generated configuration, two sites, and three gateways. The gateway "one" of
/// the site "kitchen" is the stolen one.
struct Deployment {
  let server: NATSServer
  let folder: CredentialsFolder
  let coordinator: JetStream
  let stolen: GatewayCredentials

  static let offers = ["kitchen.a", "hall.a", "hall.b"]

  /// - Parameter isFilled: whether the buckets contain entries, which are no jobs.
  init(
    _ version: NATSServer.Version, _ files: TemporaryFolders.Folder, isFilled: Bool = true
  ) async throws {
    folder = try CredentialsTests.folder(files)
    for (site, gateway) in [("kitchen", "one"), ("kitchen", "two"), ("hall", "one")] {
      _ = try folder.issue(site: site, gateway: gateway)
    }
    let coordinatorKey = try NKey(contentsOf: try folder.issueCoordinator())
    stolen = try GatewayCredentials(
      contentsOf: folder.credentialsPath(site: "kitchen", gateway: "one"))
    server = try await NATSServer(
      version, "include \"accounts.conf\"", ["accounts.conf": try Self.accounts(folder)])
    coordinator = try JetStream(try await server.connect(key: coordinatorKey))
    try await SiteStreams.create(on: coordinator)
    try await SiteStreams.createConsumers(of: ["kitchen", "hall"], on: coordinator)
    // The test of all operations can take longer than the lifetime of these entries.
    for var reported in SiteStreams.buckets() where reported.lifetime != nil {
      reported.lifetime = nil
      _ = try await KeyValueBucket(reported, of: coordinator)
    }
    guard isFilled else { return }
    for key in Self.offers {
      try await coordinator.publish(
        NATSMessage(subject: SiteLayout.offer(key), payload: Array("offer".utf8)))
      try await bucket(SiteLayout.state).put(key, Array("entry of \(key)".utf8))
    }
    try await bucket(SiteLayout.runs).put("r1", [1])
    try await bucket(SiteLayout.images).put("abc.0", Array("chunk".utf8))
    try await bucket(SiteLayout.leader).put("coordinator", [1])
    for key in ["kitchen.two", "hall.one"] { try await bucket(SiteLayout.presence).put(key, [1]) }
    try await bucket(SiteLayout.progress).put("hall.a", [1])
  }

  static func accounts(_ folder: CredentialsFolder) throws -> String {
    try String(contentsOfFile: folder.accountsPath, encoding: .utf8)
  }

  func bucket(_ name: String) throws -> KeyValueBucket {
    try KeyValueBucket(name, of: coordinator)
  }

  func connect(_ credentials: GatewayCredentials) async throws -> JetStream {
    try JetStream(
      try await server.connect(
        key: credentials.key,
        inboxPrefix: credentials.options(clientName: "").inboxPrefix))
  }

  /// A client of the stolen gateway that receives the replies at its own inbox.
  func raw() throws -> RawClient {
    let client = try RawClient(port: server.port, key: stolen.key)
    try client.subscribe("\(Self.inbox).>")
    return client
  }

  static let inbox = SiteLayout.inbox(site: "kitchen", gateway: "one")
  static let reply = "\(inbox).reply"

  /// Returns the content, the revisions and the configurations that the stolen gateway must not be
  /// able to change.
  func state() async throws -> [String] {
    var state: [String] = []
    for name in [
      SiteLayout.state, SiteLayout.runs, SiteLayout.images, SiteLayout.leader,
      SiteLayout.presence, SiteLayout.progress,
    ] {
      let entries = try await bucket(name).entries(includingHistory: true)
      state += entries.filter { !Self.isOwn($0.key, in: name) }.map {
        "\(name) \($0.key) \($0.revision) \($0.value) \($0.isDeleted)"
      }
      state.append("\(try await coordinator.stream("KV_\(name)").configuration)")
    }
    let offers = try await coordinator.messages(in: SiteLayout.offers, matching: ">")
    state += offers.keys.sorted()
    for site in ["kitchen", "hall"] {
      let consumer = try await coordinator.consumer(site, of: SiteLayout.offers)
      state.append("\(consumer.configuration) \(consumer.open) \(consumer.pending)")
    }
    state.append("\(try await coordinator.stream(SiteLayout.offers).content.consumers)")
    return state
  }

  private static func isOwn(_ key: String, in bucket: String) -> Bool {
    switch bucket {
    case SiteLayout.state, SiteLayout.progress: key.hasPrefix("kitchen.")
    case SiteLayout.presence: key == "kitchen.one"
    default: false
    }
  }
}

/// An operation that a stolen gateway must not be able to perform.
struct ForbiddenOperation: Sendable, CustomTestStringConvertible {
  let name: String
  let subject: String
  var payload = ""
  var header: String?
  /// The reply subject; `nil` = a subject in the gateway's inbox.
  var reply: String?
  /// Whether the operation is a subscription.
  var isSubscription = false
  /// The server's answer, in which N replaces the sequence number of a message; empty = the server
  /// sends no answer.
  let answer: String
  /// The answer of 2.14.0; `nil` = the same.
  var newerAnswer: String?

  var testDescription: String { name }

  /// The row of the operation in `docs/sites-security.md`.
  var row: String {
    let request = [
      isSubscription ? "SUB" : "PUB", subject, header?.replacing("\r\n", with: " "),
      payload.isEmpty ? nil : payload,
      reply.map { "reply \($0)" },
    ].compactMap(\.self).joined(separator: " ")
    func text(_ answer: String) -> String {
      answer.isEmpty
        ? "no answer, no effect" : "`\(answer.replacing(" to \"\(subject)\"", with: ""))`"
    }
    return "| \(name) | `\(request)` | \(text(answer)) | \(newerAnswer.map(text) ?? "same") |"
  }

  func answer(of version: NATSServer.Version) -> String {
    version == .debian ? answer : newerAnswer ?? answer
  }

  /// An operation that publishes to a subject without permission.
  private static func refused(
    _ name: String, _ subject: String, _ payload: String = "", header: String? = nil
  ) -> Self {
    Self(
      name: name, subject: subject, payload: payload, header: header,
      answer: #"-ERR 'Permissions Violation for Publish to "\#(subject)"'"#)
  }

  private static func unheard(
    _ name: String, _ subject: String
  ) -> Self {
    Self(
      name: name, subject: subject, isSubscription: true,
      answer: #"-ERR 'Permissions Violation for Subscription to "\#(subject)"'"#)
  }

  /// A permitted request whose reply would have an effect on another subject.
  private static func replyingTo(_ name: String, _ reply: String) -> Self {
    Self(
      name: name, subject: "$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.kitchen.forged", reply: reply,
      answer: "")
  }

  private static let consumer =
    #"{"stream_name":"FLASH","config":{"durable_name":"x","ack_policy":"explicit"}}"#
  private static let rollup = "Nats-Rollup: all"

  static let all: [Self] = [
    refused("read another site's entry", "$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.hall.a"),
    refused("read an entry by its number", "$JS.API.DIRECT.GET.KV_STATE", #"{"seq":2}"#),
    refused("read from the leader", "$JS.API.STREAM.MSG.GET.KV_STATE", #"{"seq":2}"#),
    Self(
      name: "read another entry by the body of a request",
      subject: "$JS.API.DIRECT.GET.KV_STATE.$KV.STATE.kitchen.a",
      payload: #"{"last_by_subj":"$KV.STATE.hall.a"}"#, answer: "NATS/1.0 408 Bad Request"),
    refused("write another site's entry", "$KV.STATE.hall.a", "x"),
    refused(
      "delete another site's entry", "$KV.STATE.hall.a", header: "KV-Operation: DEL"),
    refused("roll up another site's entry", "$KV.STATE.hall.a", header: rollup),
    Self(
      name: "roll up the bucket with its own entry", subject: "$KV.STATE.kitchen.a",
      payload: "x", header: rollup,
      answer: #"{"error":{"code":500,"err_code":10111,"description":"rollup not permitted"},"#
        + #""stream":"KV_STATE","seq":0}"#),
    Self(
      name: "schedule a message to another site's entry", subject: "$KV.STATE.kitchen.scheduled",
      payload: "x",
      header: "Nats-Schedule: @every 1s\r\nNats-Schedule-Target: $KV.STATE.hall.a",
      answer: #"{"stream":"KV_STATE","seq":N}"#,
      newerAnswer: #"{"error":{"code":400,"err_code":10188,"#
        + #""description":"message schedules is disabled"},"stream":"KV_STATE","seq":0}"#),
    Self(
      name: "write another site's entry by a trace",
      subject: "$JS.API.DIRECT.GET.KV_RUNS.$KV.RUNS.none",
      header: "Nats-Trace-Dest: $KV.STATE.hall.a", answer: "NATS/1.0 404 Message Not Found",
      newerAnswer: #"-ERR 'Permissions Violation for Publish to "$KV.STATE.hall.a"'"#),
    Self(
      name: "publish an offer by a trace",
      subject: "$JS.API.DIRECT.GET.KV_RUNS.$KV.RUNS.none",
      header: "Nats-Trace-Dest: flash.job.hall.x", answer: "NATS/1.0 404 Message Not Found",
      newerAnswer: #"-ERR 'Permissions Violation for Publish to "flash.job.hall.x"'"#),
    refused("purge the bucket", "$JS.API.STREAM.PURGE.KV_STATE"),
    refused("delete a revision", "$JS.API.STREAM.MSG.DELETE.KV_STATE", #"{"seq":2}"#),
    refused("fetch another site's offer", "$JS.API.CONSUMER.MSG.NEXT.FLASH.hall"),
    refused("acknowledge another site's offer", "$JS.ACK.FLASH.hall.1.2.1.1.0", "+ACK"),
    refused("read an offer", "$JS.API.STREAM.MSG.GET.FLASH", #"{"seq":2}"#),
    refused("publish an offer to another site", "flash.job.hall.x", "x"),
    refused("publish an offer to its own site", "flash.job.kitchen.x", "x"),
    refused("create a consumer", "$JS.API.CONSUMER.DURABLE.CREATE.FLASH.x", consumer),
    refused("create a consumer by the newer request", "$JS.API.CONSUMER.CREATE.FLASH.x", consumer),
    refused("create an ephemeral consumer", "$JS.API.CONSUMER.CREATE.KV_STATE", consumer),
    refused("delete a consumer", "$JS.API.CONSUMER.DELETE.FLASH.hall"),
    refused("create a stream", "$JS.API.STREAM.CREATE.X", #"{"name":"X","subjects":["x"]}"#),
    refused("change a stream", "$JS.API.STREAM.UPDATE.KV_STATE", #"{"name":"KV_STATE"}"#),
    refused("delete a stream", "$JS.API.STREAM.DELETE.FLASH"),
    refused("list the streams", "$JS.API.STREAM.NAMES"),
    refused("read the account", "$JS.API.INFO"),
    refused("write a run", "$KV.RUNS.r1", "x"),
    refused("write an image", "$KV.FW.abc.0", "x"),
    refused("take over the coordinator's entry", "$KV.LEADER.coordinator", "x"),
    refused("report the presence of another site's gateway", "$KV.PRESENCE.hall.one", "x"),
    refused("report the presence of another gateway of its site", "$KV.PRESENCE.kitchen.two", "x"),
    refused("report the progress of another site", "$KV.PROGRESS.hall.a", "x"),
    unheard("read the inbox of another gateway", "_INBOX_kitchen.two.>"),
    unheard("read the inbox of the coordinator", "_INBOX.>"),
    unheard("read all changes of entries", "$KV.>"),
    unheard("read all offers", "flash.job.>"),
    unheard("read all messages", ">"),
    unheard("read the messages of the system", "$SYS.>"),
    replyingTo("write another site's entry by a reply", "$KV.STATE.hall.a"),
    replyingTo("publish an offer by a reply", "flash.job.hall.x"),
    replyingTo("take over the coordinator's entry by a reply", "$KV.LEADER.coordinator"),
    replyingTo("write an image by a reply", "$KV.FW.abc.0"),
    replyingTo("report the presence of another gateway by a reply", "$KV.PRESENCE.hall.one"),
    replyingTo("delete a stream by a reply", "$JS.API.STREAM.DELETE.FLASH"),
    replyingTo("write to the inbox of another gateway", "_INBOX_kitchen.two.x.1"),
  ]
}
#endif
