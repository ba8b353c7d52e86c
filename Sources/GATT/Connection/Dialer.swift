import OtaflashATT

/// How to reach a device: returns a fresh link each time. It may report `.scanStarted` and
/// `.deviceFound` on the way. Decorators add who is told of what goes on, `tracing` and `observing`, and
/// how long that may take, `answering`.
public struct Dialer: Sendable {
  let dial:
    @Sendable (Whereabouts, @Sendable (ConnectionInput) -> Void) async throws(ConnectFault)
      -> any Link
  private(set) var observe: @Sendable (ConnectionTransition) -> Void = { _ in }
  private(set) var transactionLimit = RequestSlot.transactionTimeout

  public init(
    reporting dial:
      @escaping @Sendable (@Sendable (ConnectionInput) -> Void) async throws(ConnectFault)
      -> any Link
  ) {
    self.dial = { (_, report) async throws(ConnectFault) -> any Link in try await dial(report) }
  }

  public init(_ dial: @escaping @Sendable () async throws(ConnectFault) -> any Link) {
    self.dial = { (_, _) async throws(ConnectFault) -> any Link in try await dial() }
  }

  /// A dialer that can follow a device whose boot loader has another address. The others find
  /// whatever answers behind their one door.
  public init(
    at dial: @escaping @Sendable (Whereabouts) async throws(ConnectFault) -> any Link
  ) {
    self.dial = { (place, _) async throws(ConnectFault) -> any Link in try await dial(place) }
  }

  private init(
    placed dial:
      @escaping @Sendable (Whereabouts, @Sendable (ConnectionInput) -> Void)
      async throws(ConnectFault) -> any Link
  ) {
    self.dial = dial
  }

  /// The same, with every PDU of its links told to `trace` (`TracingLink`).
  public func tracing(
    on clock: any LinkClock, _ trace: @escaping @Sendable (TracingLink.Crossing) -> Void
  ) -> Dialer {
    wrapping { TracingLink($0, clock: clock, trace: trace) }
  }

  /// The same, with each of its links inside another one.
  func wrapping(_ wrap: @escaping @Sendable (any Link) -> any Link) -> Dialer {
    let dial = dial
    var wrapped = Dialer(placed: { (place, report) async throws(ConnectFault) -> any Link in
      wrap(try await dial(place, report))
    })
    wrapped.observe = observe
    wrapped.transactionLimit = transactionLimit
    return wrapped
  }

  /// The same, with connections that end when a request is not answered within `limit`: the 30 s of
  /// the specification (Core 5.4, Vol 3, Part F, 3.3.3), or less to test and to diagnose.
  ///
  /// - Parameter limit: more than 0, up to 30 s.
  public func answering(within limit: Duration) -> Dialer {
    precondition(
      limit > .zero && limit <= RequestSlot.transactionTimeout,
      "a request is given up after 30 s at the latest, not after \(limit)")
    var limited = self
    limited.transactionLimit = limit
    return limited
  }

  /// The same, with every step of a connection made by it told to `observe`, which must return soon.
  public func observing(
    _ observe: @escaping @Sendable (ConnectionTransition) -> Void
  ) -> Dialer {
    let former = self.observe
    var observed = self
    observed.observe = { transition in
      former(transition)
      observe(transition)
    }
    return observed
  }
}
