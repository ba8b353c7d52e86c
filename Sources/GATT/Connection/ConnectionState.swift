/// Where a connection stands, from nothing to a subscribed peer.
public enum ConnectionState: String, Sendable, CaseIterable {
  /// No link, and nothing that makes one.
  case idle
  /// The device is looked for.
  case scanning
  /// The device was heard.
  case discovered
  /// The link is being made.
  case connecting
  /// The link stands.
  case connected
  /// The device is asked for its services.
  case discoveringServices = "discovering-services"
  /// The services are known.
  case servicesReady = "services-ready"
  /// The device is asked for values.
  case subscribing
  /// Values are on their way.
  case ready
}

/// Why a connection went back: to `idle` when it ended, to the last state that was reached when a
/// procedure on it failed.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ConnectionFailure: Error, Equatable, Sendable {
  /// No connection could be made.
  case connect(ConnectFault)
  /// A procedure failed, or the connection was lost.
  case gatt(GATTFault)
  /// A dialer reported what cannot happen in the state that is; the state is unchanged.
  indirect case impossible(ConnectionMachine.IllegalStep)
}

/// What happens to a connection. Every input that is not an error moves it one step; `failed` moves
/// it to `idle` from anywhere.
public enum ConnectionInput: Equatable, Sendable {
  /// A scanner looks for the device.
  case scanStarted
  /// An advertisement passed the filter; the scan has ended.
  case deviceFound
  /// The link was asked for, by an address that is known or was just found.
  case connectStarted
  /// The link stands, and PDUs can cross it.
  case linkUp
  /// The first request of a discovery is about to be sent.
  case discoveringServices
  /// The discovery has ended; what it found can be used.
  case servicesFound
  /// A client characteristic configuration is about to be written.
  case subscribing
  /// The device has answered that write; its values arrive from now on.
  case subscribed
  /// Discovery failed on a connection that stands.
  case discoveryFailed(GATTFault)
  /// A subscription failed on a connection that stands.
  case subscriptionFailed(GATTFault)
  /// This side closed the connection on purpose.
  case closed
  /// What was under way failed.
  case failed(ConnectionFailure)
}

/// One observed step: from, to, and the error when there was one.
public struct ConnectionTransition: Equatable, Sendable {
  /// The state before.
  public let from: ConnectionState
  /// The state now.
  public let to: ConnectionState
  /// Why, where something went wrong.
  public let failure: ConnectionFailure?

  /// A step, permitted or not.
  public init(from: ConnectionState, to: ConnectionState, failure: ConnectionFailure? = nil) {
    self.from = from
    self.to = to
    self.failure = failure
  }
}

/// The table of permitted steps. Pure: `Peripheral` feeds it and publishes what it returns.
public struct ConnectionMachine: Equatable, Sendable {
  /// An input that the present state does not permit; it names both, and the state is unchanged.
  public struct IllegalStep: Error, Equatable, Sendable {
    /// The state in which it came.
    public let state: ConnectionState
    /// What came.
    public let input: ConnectionInput
  }

  /// Where the connection stands.
  public private(set) var state = ConnectionState.idle
  /// What was reached last on this connection, where a failed procedure leads back to.
  private var reached = ConnectionState.connected

  /// A machine in `idle`.
  public init() {}

  /// Takes one step.
  ///
  /// - Throws: `IllegalStep` when the input cannot happen in this state.
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

  /// Discovery and subscriptions, which several tasks may have under way at the same time: what is
  /// still under way is shown before what was reached, and a failure leads back to that.
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
  /// What is told with the step.
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
  /// What a client's step is to its connection.
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
