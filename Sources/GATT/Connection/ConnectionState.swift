/// The state of a connection, from no link to an active subscription.
public enum ConnectionState: String, Sendable, CaseIterable {
  /// No link, and no connection attempt.
  case idle
  /// A scan for the device is running.
  case scanning
  /// An advertisement of the device was received.
  case discovered
  /// The link is being established.
  case connecting
  /// The link is established.
  case connected
  /// The services of the device are being discovered.
  case discoveringServices = "discovering-services"
  /// The services are known.
  case servicesReady = "services-ready"
  /// A subscription is being set up.
  case subscribing
  /// Values can arrive.
  case ready
}

/// The reason for a step to an earlier state: to `idle` if the connection ended, or to the previous
/// state if a procedure failed.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectionFailure: Error, Equatable, Sendable {
  /// The connection could not be established.
  case connect(ConnectFault)
  /// A procedure failed, or the connection was lost.
  case gatt(GATTFault)
  /// A dialer reported an event that is impossible in the current state. The state is unchanged.
  indirect case impossible(ConnectionMachine.IllegalStep)
}

/// An event of a connection. An input may leave the state unchanged; `failed` and `closed` move the
/// connection to `idle` from any state.
public enum ConnectionInput: Equatable, Sendable {
  /// A scanner looks for the device.
  case scanStarted
  /// An advertisement passed the filter; the scan has ended.
  case deviceFound
  /// The link was requested, to an address that was known or that the scan found.
  case connectStarted
  /// The link is established and carries PDUs.
  case linkUp
  /// The first request of a discovery is about to be sent.
  case discoveringServices
  /// The discovery has ended; its results can be used.
  case servicesFound
  /// A Client Characteristic Configuration is about to be written.
  case subscribing
  /// The device has responded to the write of the configuration; values can arrive.
  case subscribed
  /// Discovery failed; the connection remains.
  case discoveryFailed(GATTFault)
  /// A subscription failed; the connection remains.
  case subscriptionFailed(GATTFault)
  /// The host closed the connection on purpose.
  case closed
  /// The current operation failed.
  case failed(ConnectionFailure)
}

/// One observed step: the previous state, the new state, and the error if an error caused the step.
public struct ConnectionTransition: Equatable, Sendable {
  /// The state before the step.
  public let from: ConnectionState
  /// The state after the step.
  public let to: ConnectionState
  /// The error that caused the step, if any.
  public let failure: ConnectionFailure?

  /// Creates a step, which is not checked against the table.
  public init(from: ConnectionState, to: ConnectionState, failure: ConnectionFailure? = nil) {
    self.from = from
    self.to = to
    self.failure = failure
  }
}

/// The table of permitted steps, without side effects: `Peripheral` applies the inputs and
/// publishes the results.
public struct ConnectionMachine: Equatable, Sendable {
  /// An input that the current state does not permit. The state is unchanged.
  public struct IllegalStep: Error, Equatable, Sendable {
    /// The state at the time of the input.
    public let state: ConnectionState
    /// The input that the state does not permit.
    public let input: ConnectionInput
  }

  /// The current state.
  public private(set) var state = ConnectionState.idle
  /// The last state reached on this connection, to which a failed procedure returns.
  private var reached = ConnectionState.connected

  /// Creates a machine in the state `idle`.
  public init() {}

  /// Applies one input; returns the step.
  ///
  /// - Throws: `IllegalStep` if the input is impossible in this state.
  public mutating func apply(
    _ input: ConnectionInput
  ) throws(IllegalStep) -> ConnectionTransition {
    let before = state
    state = try next(after: input)
    switch state {
    case .connected, .servicesReady, .ready: reached = state
    case .discoveringServices, .subscribing:
      if input == .servicesFound, reached == .connected { reached = .servicesReady }
    case .idle, .scanning, .discovered, .connecting: break
    }
    return ConnectionTransition(from: before, to: state, failure: input.failure)
  }

  private func next(after input: ConnectionInput) throws(IllegalStep) -> ConnectionState {
    switch (state, input) {
    case (_, .failed), (_, .closed): return .idle
    case (.idle, .scanStarted): return .scanning
    case (.scanning, .deviceFound): return .discovered
    case (.idle, .connectStarted), (.scanning, .connectStarted), (.discovered, .connectStarted):
      return .connecting
    case (.connecting, .linkUp): return .connected
    case (.idle, _), (.scanning, _), (.discovered, _), (.connecting, _): break
    default: if let next = nextOnLink(after: input) { return next }
    }
    throw IllegalStep(state: state, input: input)
  }

  /// Returns the next state while a link exists; `nil` if the input is not permitted. Discovery and
  /// subscriptions may run in several tasks at the same time. While a procedure runs, the state is
  /// the state of the procedure; when it fails, the connection returns to the state before the
  /// procedure.
  private func nextOnLink(after input: ConnectionInput) -> ConnectionState? {
    switch (state, input) {
    case (.subscribing, .discoveringServices): .subscribing
    case (_, .discoveringServices): .discoveringServices
    case (.subscribing, .servicesFound), (.ready, .servicesFound): state
    case (_, .servicesFound): reached == .ready ? .ready : .servicesReady
    case (_, .subscribing): .subscribing
    case (_, .subscribed): .ready
    case (.discoveringServices, .discoveryFailed), (.subscribing, .subscriptionFailed): reached
    case (_, .discoveryFailed), (_, .subscriptionFailed): state
    default: nil
    }
  }
}

extension ConnectionInput {
  /// The failure that is reported with the step.
  var failure: ConnectionFailure? {
    switch self {
    case .failed(let failure): failure
    case .discoveryFailed(let fault), .subscriptionFailed(let fault): .gatt(fault)
    case .scanStarted, .deviceFound, .connectStarted, .linkUp, .discoveringServices,
      .servicesFound, .subscribing, .subscribed, .closed:
      nil
    }
  }
}

extension ConnectionInput {
  /// Creates the input that corresponds to a step of a client.
  init(_ step: GATTClientStep) {
    switch step {
    case .discoveringServices: self = .discoveringServices
    case .servicesFound: self = .servicesFound
    case .subscribing: self = .subscribing
    case .subscribed: self = .subscribed
    case .discoveryFailed(let fault): self = .discoveryFailed(fault)
    case .subscriptionFailed(let fault): self = .subscriptionFailed(fault)
    }
  }
}
