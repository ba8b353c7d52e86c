#if Sites
/// The servers and the parameters of a connection.
package struct NATSOptions: Sendable {
  /// The TLS parameters. The chain and the name of a server's certificate are always verified.
  package struct TLS: Sendable {
    /// The name in the certificates of the servers; all servers of a cluster have the same name.
    package var serverName: String
    /// The path of a file with trusted CA certificates (PEM); `nil` = the trusted certificates of
    /// the system.
    package var trustedCertificates: String?
    /// The paths of files with the client's certificate chain and key (PEM), for mutual TLS.
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

  /// The URLs of the servers, such as `nats://hub:4222`.
  package var servers: [String]
  /// The client's name in the server's log.
  package var name: String
  package var tls: TLS?
  package var key: NKey?
  /// The prefix of all reply subjects. The account of a gateway has permission to subscribe only to
  /// the prefix of the gateway.
  package var inboxPrefix: String
  /// The time limit of each step of a call: the wait for the connection, and the wait for the
  /// reply.
  package var callLimit: Duration
  /// The time limit of a connection attempt to one server.
  package var connectLimit: Duration
  /// The time between two attempts to reconnect. A random time of up to half of this value is
  /// added.
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
  /// The duration in whole milliseconds, at least 1.
  var milliseconds: Int64 { max(1, nanoseconds / 1_000_000) }

  /// The duration in nanoseconds, the unit of JetStream; at most 292 years.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .max : product &+ attoseconds / 1_000_000_000
  }
}
#endif
