#if Sites
import COtaflashNATS
import Glibc

/// The connection of libnats. All calls that may block run on the actor's own thread.
actor Wire {
  /// An open connection and its only subscription, which are closed when the value is destroyed.
  private struct Session: ~Copyable {
    let connection: OpaquePointer
    let subscription: OpaquePointer
    let number: UInt

    deinit {
      Callbacks.remove(number)
      natsConnection_Close(connection)
      natsSubscription_Destroy(subscription)
      natsConnection_Destroy(connection)
    }
  }

  /// The time limit of a write to the socket. If a write takes longer, the connection counts as
  /// lost.
  private static let writeLimitMilliseconds: Int64 = 2000
  private static let pingIntervalMilliseconds: Int64 = 10_000
  private static let unansweredPingsMaximum: Int32 = 2
  /// The maximum number of consecutive attempts with a signature that libnats cannot send.
  private static let attemptsMaximum = 8

  private nonisolated let lane: Lane
  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
  private let options: NATSOptions
  private let switchboard: Switchboard
  private var session: Session?
  private var isClosed = false

  init(_ options: NATSOptions, _ switchboard: Switchboard) throws(NATSFault) {
    guard let lane = Lane() else { throw .system("no thread or descriptor is left") }
    self.lane = lane
    self.options = options
    self.switchboard = switchboard
  }

  deinit { lane.stop() }

  /// Connects, unless a connection is open or libnats tries to restore the connection.
  func connect() throws(NATSFault) {
    guard !isClosed else { throw .closed }
    if let connection = session?.connection {
      guard natsConnection_IsClosed(connection) else { return }
    }
    session = nil
    session = try open()
    switchboard.connected()
  }

  func close() {
    isClosed = true
    session = nil
    switchboard.disconnected(.closed)
  }

  /// Sends a message.
  func send(_ message: NATSMessage) throws(NATSFault) {
    guard let connection = session?.connection else {
      throw isClosed ? .closed : .notConnected
    }
    guard natsConnection_Status(connection) == NATS_CONN_STATUS_CONNECTED else {
      throw .notConnected
    }
    var created: OpaquePointer?
    let status = message.payload.withUnsafeBytes { payload in
      natsMsg_Create(
        &created, message.subject, message.reply,
        payload.bindMemory(to: CChar.self).baseAddress, Int32(payload.count))
    }
    guard status == NATS_OK, let created else { throw .system(Self.text(status)) }
    defer { natsMsg_Destroy(created) }
    for (key, value) in message.headers {
      let status = natsMsgHeader_Set(created, key, value)
      guard status == NATS_OK else { throw .system(Self.text(status)) }
    }
    switch natsConnection_PublishMsg(connection, created) {
    case NATS_OK: return
    case NATS_MAX_PAYLOAD: throw .tooLarge(bytes: message.payload.count)
    case NATS_INSUFFICIENT_BUFFER, NATS_CONNECTION_CLOSED: throw .notConnected
    default: throw .connectionLost
    }
  }

  /// Returns the largest payload that the server accepts, in bytes.
  func payloadMaximum() -> Int {
    guard let connection = session?.connection else { return 0 }
    return Int(natsConnection_GetMaxPayload(connection))
  }

  // MARK: - Opening

  private func open() throws(NATSFault) -> Session {
    let number = Callbacks.register(Callbacks.Target(switchboard: switchboard, key: options.key))
    do throws(NATSFault) {
      return try open(number)
    } catch {
      Callbacks.remove(number)
      throw error
    }
  }

  private func open(_ number: UInt) throws(NATSFault) -> Session {
    let closure = UnsafeMutableRawPointer(bitPattern: number)
    var created: OpaquePointer?
    try Self.check(natsOptions_Create(&created))
    guard let native = created else { throw .system("no options") }
    defer { natsOptions_Destroy(native) }
    try configure(native, closure)
    let connection = try Self.connect(native)
    var subscription: OpaquePointer?
    let subscribed = natsConnection_Subscribe(
      &subscription, connection, switchboard.inbox + ".>", Callbacks.message, closure)
    guard subscribed == NATS_OK, let subscription else {
      natsConnection_Destroy(connection)
      throw Self.fault(subscribed)
    }
    let session = Session(connection: connection, subscription: subscription, number: number)
    // The server reports a forbidden subscription before it answers the ping of the flush.
    let flushed = natsConnection_FlushTimeout(connection, options.connectLimit.milliseconds)
    guard flushed == NATS_OK else { throw Self.fault(flushed) }
    var text: UnsafePointer<CChar>?
    guard natsConnection_GetLastError(connection, &text) != NATS_NOT_PERMITTED else {
      throw .notPermitted(switchboard.inbox + ".>")
    }
    return session
  }

  private static func connect(_ native: OpaquePointer) throws(NATSFault) -> OpaquePointer {
    var attempts = 0
    while true {
      attempts += 1
      var connection: OpaquePointer?
      let status = natsConnection_Connect(&connection, native)
      if status == NATS_OK, let connection { return connection }
      guard attempts < attemptsMaximum, text(status).contains(Callbacks.unusableSignature) else {
        throw fault(status)
      }
    }
  }

  private func configure(
    _ native: OpaquePointer, _ closure: UnsafeMutableRawPointer?
  ) throws(NATSFault) {
    var servers = options.servers.map { $0.withCString { UnsafePointer(strdup($0)) } }
    defer { for server in servers { free(UnsafeMutableRawPointer(mutating: server)) } }
    try Self.check(natsOptions_SetServers(native, &servers, Int32(servers.count)))
    try Self.check(natsOptions_SetName(native, options.name))
    try Self.check(natsOptions_SetTimeout(native, options.connectLimit.milliseconds))
    try Self.check(natsOptions_SetWriteDeadline(native, Self.writeLimitMilliseconds))
    try Self.check(natsOptions_SetPingInterval(native, Self.pingIntervalMilliseconds))
    try Self.check(natsOptions_SetMaxPingsOut(native, Self.unansweredPingsMaximum))
    try Self.check(natsOptions_SetMaxReconnect(native, -1))
    let wait = options.reconnectWait.milliseconds
    try Self.check(natsOptions_SetReconnectWait(native, wait))
    try Self.check(natsOptions_SetReconnectJitter(native, wait / 2 + 1, wait / 2 + 1))
    // With a larger buffer, a message could wait until the connection is restored, and take effect
    // after its call has failed.
    try Self.check(natsOptions_SetReconnectBufSize(native, 1))
    try Self.check(natsOptions_SetSendAsap(native, true))
    // Without this option, each subscription has a separate thread.
    try Self.check(natsOptions_UseGlobalMessageDelivery(native, true))
    try Self.check(natsOptions_SetDisconnectedCB(native, Callbacks.disconnected, closure))
    try Self.check(natsOptions_SetReconnectedCB(native, Callbacks.reconnected, closure))
    try Self.check(natsOptions_SetClosedCB(native, Callbacks.ended, closure))
    try Self.check(natsOptions_SetErrorHandler(native, Callbacks.failed, closure))
    if let key = options.key {
      try Self.check(natsOptions_SetNKey(native, key.publicKey, Callbacks.sign, closure))
    }
    if let tls = options.tls { try configure(native, tls) }
  }

  private func configure(_ native: OpaquePointer, _ tls: NATSOptions.TLS) throws(NATSFault) {
    try Self.check(natsOptions_SetSecure(native, true))
    // Without this name, libnats may accept any certificate of a trusted issuer.
    try Self.check(natsOptions_SetExpectedHostname(native, tls.serverName))
    if let path = tls.trustedCertificates {
      try Self.check(natsOptions_LoadCATrustedCertificates(native, path))
    }
    if let identity = tls.identity {
      try Self.check(natsOptions_LoadCertificatesChain(native, identity.chain, identity.key))
    }
  }

  private static func text(_ status: natsStatus) -> String {
    String(cString: otaflash_nats_error_text(status))
  }

  private static func check(_ status: natsStatus) throws(NATSFault) {
    guard status == NATS_OK else { throw fault(status) }
  }

  private static func fault(_ status: natsStatus) -> NATSFault {
    let text = text(status)
    return switch status {
    case NATS_CONNECTION_AUTH_FAILED: .authenticationRefused(text)
    case NATS_SSL_ERROR: .untrusted(text)
    case NATS_SECURE_CONNECTION_REQUIRED, NATS_SECURE_CONNECTION_WANTED: .untrusted(text)
    case NATS_NO_MEMORY, NATS_SYS_ERROR, NATS_FAILED_TO_INITIALIZE: .system(text)
    case NATS_INVALID_ARG, NATS_ADDRESS_MISSING: .system(text)
    default: .unreachable(text)
    }
  }
}
#endif
