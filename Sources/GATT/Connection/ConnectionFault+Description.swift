extension ScanFault: CustomStringConvertible {
  /// Whole sentences for people: what was in the way, and what helps.
  public var description: String {
    switch self {
    case .notFound(let limit): "Nothing that was asked for was heard within \(limit)."
    case .adapterUnavailable(let cause, let remedy), .busy(let cause, let remedy),
      .permissionDenied(let cause, let remedy), .unsupported(let cause, let remedy):
      "\(cause) \(remedy)"
    case .failed(let reason): reason
    case .cancelled: "The scan was cancelled."
    }
  }
}

extension PeripheralFault: CustomStringConvertible {
  /// Whole sentences for people.
  public var description: String {
    switch self {
    case .connect(let fault): fault.description
    case .gatt(let fault): fault.description
    case .queue(let fault): fault.description
    }
  }
}

extension QueueFault: CustomStringConvertible {
  /// Whole sentences for people.
  public var description: String {
    switch self {
    case .cancelledInQueue: "The command was cancelled before its turn came."
    case .full(let limit): "As many commands wait as the queue holds: \(limit)."
    case .closed: "The device's queue is closed."
    case .failed(let failure): "\(failure)"
    case .timedOut(let limit): "The command took longer than \(limit)."
    case .preparationFailed(let error): "What belongs to each command failed. \(error)"
    }
  }
}

extension CompoundFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .main(let fault): "\(fault)"
    case .other(let fault): "\(fault)"
    }
  }
}

extension ConnectionFailure: CustomStringConvertible {
  /// Whole sentences for people.
  public var description: String {
    switch self {
    case .connect(let fault): fault.description
    case .gatt(let fault): fault.description
    case .impossible(let step):
      "A dialer reported '\(step.input)' while the connection was \(step.state.rawValue)."
    }
  }
}
