import OtaflashATT

/// The reason why an operation on a peripheral failed.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum PeripheralFault: Error, Equatable, Sendable {
  /// The connection could not be established.
  case connect(ConnectFault)
  /// The operation failed on the connection.
  case gatt(GATTFault)
  /// The operation was cancelled or rejected before it started, or a decorator of the queue failed.
  case queue(QueueFault<Never>)

  /// Converts the fault of a queued operation.
  init(_ fault: QueueFault<PeripheralFault>) {
    switch fault {
    case .failed(let fault): self = fault
    case .timedOut(let limit): self = .gatt(.timedOut(after: limit))
    case .preparationFailed(let error):
      self = error as? PeripheralFault ?? .queue(.preparationFailed(error))
    case .cancelledInQueue: self = .queue(.cancelledInQueue)
    case .full(let limit): self = .queue(.full(limit: limit))
    case .closed: self = .queue(.closed)
    }
  }

  /// Creates the connection failure that `error` represents; returns `nil` for any other error.
  init?(_ error: any Error) {
    switch error {
    case let fault as PeripheralFault: self = fault
    case let fault as GATTFault: self = .gatt(fault)
    case let fault as ConnectFault: self = .connect(fault)
    default: return nil
    }
  }

  /// Whether the operation may succeed on a new connection.
  public var isResolvedByReconnecting: Bool {
    switch self {
    case .connect(let fault): fault.isResolvedByReconnecting
    case .gatt(.linkLost(let loss)): loss.isResolvedByReconnecting
    case .gatt(.transactionTimedOut): true
    case .gatt(.refused), .gatt(.insecure), .gatt(.violation), .gatt(.cancelled), .gatt(.timedOut),
      .gatt(.notFound), .gatt(.notPermitted), .gatt(.queueFull), .gatt(.valueTooLong),
      .gatt(.mtuOutOfRange), .gatt(.unsubscribed), .queue:
      false
    }
  }
}

extension ConnectFault {
  /// Whether another attempt may succeed without a change by the user.
  public var isResolvedByReconnecting: Bool {
    switch self {
    case .lostWhileConnecting(let loss): loss.isResolvedByReconnecting
    case .deviceNotFound, .busy: true
    case .adapterUnavailable, .permissionDenied, .systemCall, .cancelled: false
    }
  }
}

extension LinkLoss {
  fileprivate var isResolvedByReconnecting: Bool {
    switch self {
    case .closedByPeer, .closedLocally, .supervisionTimeout, .failed: true
    case .cancelled, .keysRefused, .tooLarge: false
    }
  }
}
