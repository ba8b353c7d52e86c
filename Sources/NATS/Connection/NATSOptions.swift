#if Sites
/// Where and how to connect.
package struct NATSOptions: Sendable {
  /// TLS towards the servers. The chain and the name of a certificate are always verified.
  package struct TLS: Sendable {
    /// The name in the servers' certificates; all servers of a cluster share it.
    package var serverName: String
    /// A file with trusted certificates (PEM); `nil` = those of the system.
    package var trustedCertificates: String?
    /// Files with the client's certificate chain and key (PEM), for mutual TLS.
    package var identity: (chain: String, key: String)?

    package init(
      serverName: String, trustedCertificates: String? = nil,
      identity: (chain: String, key: String)? = nil
    ) {
      self.serverName = serverName
      self.trustedCertificates = trustedCertificates
      self.identity = identity
    }
  }

  /// URLs, such as `nats://hub:4222`.
  package var servers: [String]
  /// The client's name in the server's log.
  package var name: String
  package var tls: TLS?
  package var key: NKey?
  /// The prefix of the subjects of replies: an account of a site may subscribe to its own only.
  package var inboxPrefix: String
  /// The bound of each step of a call: until the connection is back, and until the reply.
  package var callLimit: Duration
  /// The bound of a connection attempt to one server.
  package var connectLimit: Duration
  /// The time between two attempts to reconnect, to which up to half is added at random.
  package var reconnectWait: Duration

  package init(
    servers: [String], name: String, tls: TLS? = nil, key: NKey? = nil,
    inboxPrefix: String = "_INBOX", callLimit: Duration = .seconds(5),
    connectLimit: Duration = .seconds(2), reconnectWait: Duration = .milliseconds(500)
  ) {
    self.servers = servers
    self.name = name
    self.tls = tls
    self.key = key
    self.inboxPrefix = inboxPrefix
    self.callLimit = callLimit
    self.connectLimit = connectLimit
    self.reconnectWait = reconnectWait
  }
}

extension Duration {
  /// Whole milliseconds, at least 1.
  var milliseconds: Int64 { max(1, nanoseconds / 1_000_000) }

  /// Nanoseconds, the unit of JetStream; at most 292 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product &+ attoseconds / 1_000_000_000
  }
}
#endif
