import OtaflashATT

extension Peripheral {
  /// Runs `body` on a connection, and again from its beginning on a new one each time the link is
  /// lost or cannot be made: what it has to ask, subscribe and write is the same after every loss.
  ///
  /// `body` does not hold the queue, so that commands go on beside it; each of its own operations
  /// is one request at a time. What must not be interleaved with others is a command.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and how many further attempts there may be in a row. The count starts
  ///     over when a connection has lasted longer than the strategy's longest wait.
  ///   - random: 0 ..< 1 for the strategy's jitter.
  /// - Throws: the last failure when no attempt is left, and at once what no new connection mends:
  ///   a refusal, a violation, a missing right or adapter, a cancellation.
  public func keepingConnected<Output: Sendable>(
    _ strategy: ReconnectionStrategy = .exponential(),
    random: () -> Double = { 0 },
    _ body: (GATTClient) async throws(GATTFault) -> Output
  ) async throws(PeripheralFault) -> Output {
    var attempt = 1
    while true {
      var connectedAt: LinkInstant?
      do throws(PeripheralFault) {
        let client = try await perform("connect") { (client) async throws(GATTFault) in client }
        connectedAt = clock.now
        do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
      } catch {
        guard error.isMendedByConnecting else { throw error }
        if let connectedAt, connectedAt.duration(to: clock.now) > strategy.ceiling { attempt = 1 }
        guard let delay = strategy.delay(beforeAttempt: attempt, random: random()),
          await clock.pause(for: delay)
        else { throw error }
        attempt += 1
      }
    }
  }
}

extension PeripheralFault {
  /// Whether a new connection may get further than the one that failed.
  var isMendedByConnecting: Bool {
    switch self {
    case .connect(let fault): fault.isWorthAnotherAttempt
    case .gatt(.linkLost(let loss)): loss.isMendedByConnecting
    case .gatt(.transactionTimedOut): true
    case .gatt(.refused), .gatt(.insecure), .gatt(.violation), .gatt(.cancelled), .gatt(.timedOut),
      .gatt(.notFound), .gatt(.notPermitted), .gatt(.queueFull), .gatt(.valueTooLong),
      .gatt(.mtuOutOfRange), .queue:
      false
    }
  }
}

extension ConnectFault {
  fileprivate var isWorthAnotherAttempt: Bool {
    switch self {
    case .deviceNotFound, .busy, .lostWhileConnecting: true
    case .adapterUnavailable, .permissionDenied, .systemCall, .cancelled: false
    }
  }
}

extension LinkLoss {
  fileprivate var isMendedByConnecting: Bool {
    switch self {
    case .closedByPeer, .closedLocally, .supervisionTimeout, .failed: true
    case .cancelled, .tooLarge: false
    }
  }
}
