/// Where a connection stands, from nothing to a subscribed peer.
public enum ConnectionState: String, Sendable, CaseIterable {
  case idle, scanning, discovered, connecting, connected
  case discoveringServices = "discovering-services"
  case servicesReady = "services-ready"
  case subscribing, ready
}

/// Why a connection went back to `idle`.
public enum ConnectionFailure: Error, Equatable, Sendable {
  case connect(ConnectFault)
  case gatt(GATTFault)
}

/// What happens to a connection. Every input that is not an error moves it one step; `failed` moves
/// it to `idle` from anywhere.
public enum ConnectionInput: Equatable, Sendable {
  case scanStarted, deviceFound, connectStarted, linkUp
  case discoveringServices, servicesFound, subscribing, subscribed
  /// This side closed the connection on purpose.
  case closed
  case failed(ConnectionFailure)
}

/// One observed step: from, to, and the error when there was one.
public struct ConnectionTransition: Equatable, Sendable {
  public let from: ConnectionState
  public let to: ConnectionState
  public let failure: ConnectionFailure?

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
    public let state: ConnectionState
    public let input: ConnectionInput
  }

  public private(set) var state = ConnectionState.idle

  public init() {}

  /// Takes one step.
  ///
  /// - Throws: `IllegalStep` when the input cannot happen in this state.
  public mutating func apply(
    _ input: ConnectionInput
  ) throws(IllegalStep) -> ConnectionTransition {
    let before = state
    state = try next(after: input)
    guard case .failed(let failure) = input else {
      return ConnectionTransition(from: before, to: state)
    }
    return ConnectionTransition(from: before, to: state, failure: failure)
  }

  private func next(after input: ConnectionInput) throws(IllegalStep) -> ConnectionState {
    switch (state, input) {
    case (_, .failed), (_, .closed): return .idle
    case (.idle, .scanStarted): return .scanning
    case (.scanning, .deviceFound): return .discovered
    case (.idle, .connectStarted), (.discovered, .connectStarted): return .connecting
    case (.connecting, .linkUp): return .connected
    case (.connected, .discoveringServices), (.servicesReady, .discoveringServices),
      (.ready, .discoveringServices):
      return .discoveringServices
    case (.discoveringServices, .servicesFound): return .servicesReady
    // A caller that knows its handles may subscribe without discovery.
    case (.connected, .subscribing), (.servicesReady, .subscribing), (.ready, .subscribing):
      return .subscribing
    case (.subscribing, .subscribed): return .ready
    // Discovery of another service, or a second subscription, may overlap in time.
    case (.discoveringServices, .discoveringServices), (.subscribing, .subscribing): return state
    case (.subscribing, .discoveringServices), (.subscribing, .servicesFound): return .subscribing
    case (.ready, .subscribed), (.ready, .servicesFound), (.servicesReady, .servicesFound):
      return state
    default: throw IllegalStep(state: state, input: input)
    }
  }
}
