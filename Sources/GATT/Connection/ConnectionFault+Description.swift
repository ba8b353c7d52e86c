import OtaflashATT
import OtaflashNumerals

extension ScanFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .notFound: "no device was found"
    case .adapterUnavailable: "no Bluetooth adapter can be used"
    case .busy: "the adapter is in use"
    case .permissionDenied: "a permission is missing"
    case .unsupported: "the adapter does not support this scan"
    case .failed: "the scan failed"
    case .cancelled: "the scan was stopped"
    }
  }

  public var explanation: String {
    switch self {
    case .notFound(let limit):
      "No matching advertisement was received within \(Numerals.seconds(limit))."
    case .adapterUnavailable(let cause, _), .busy(let cause, _), .permissionDenied(let cause, _),
      .unsupported(let cause, _):
      cause
    case .failed(let reason): reason
    case .cancelled: "Nothing was sent to any device."
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .notFound: .comeCloser
    case .adapterUnavailable(_, let remedy), .busy(_, let remedy), .permissionDenied(_, let remedy),
      .unsupported(_, let remedy):
      remedy
    case .failed: .restartAdapter
    case .cancelled: .tryAgain
    }
  }
}

extension PeripheralFault: ExplainedFault {
  public var summary: String { cause.summary }
  public var explanation: String { cause.explanation }
  public var remedy: Remedy? { cause.remedy }

  private var cause: any ExplainedFault {
    switch self {
    case .connect(let fault): fault
    case .gatt(let fault): fault
    case .queue(let fault): fault
    }
  }
}

extension QueueFault: ExplainedFault {
  /// The description of the underlying failure.
  public var description: String {
    switch self {
    case .failed(let failure): "\(failure)"
    case .preparationFailed(let error as any ExplainedFault): "\(error)"
    case .cancelledInQueue, .full, .closed, .timedOut, .preparationFailed: sentences
    }
  }

  public var summary: String {
    switch self {
    case .cancelledInQueue: "the command was cancelled while it waited in the queue"
    case .full: "too many commands are waiting for the device"
    case .closed: "the device's queue is closed"
    case .failed(let failure): (failure as? any ExplainedFault)?.summary ?? "the command failed"
    case .timedOut(let limit): "the command took longer than \(Numerals.seconds(limit))"
    case .preparationFailed(let error):
      (error as? any ExplainedFault)?.summary ?? "an action before or after the command failed"
    }
  }

  public var explanation: String {
    switch self {
    case .cancelledInQueue: "The command was not started."
    case .full(let limit): "The queue is full: it holds \(limit) commands."
    case .closed: "It accepts no further commands."
    case .failed(let failure): (failure as? any ExplainedFault)?.explanation ?? "\(failure)"
    case .timedOut: "The device may be busy, or out of range."
    case .preparationFailed(let error):
      (error as? any ExplainedFault)?.explanation ?? "\(error)"
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .cancelledInQueue, .timedOut: .tryAgain
    case .full: .wait
    case .closed: nil
    case .failed(let failure): (failure as? any ExplainedFault)?.remedy
    case .preparationFailed(let error): (error as? any ExplainedFault)?.remedy
    }
  }
}

extension MultipleFaults: CustomStringConvertible {
  public var description: String {
    switch self {
    case .main(let fault): "\(fault)"
    case .other(let fault): "\(fault)"
    }
  }
}

extension ConnectionFailure: CustomStringConvertible {
  /// The explanation for the user, in complete sentences.
  public var description: String {
    switch self {
    case .connect(let fault): fault.description
    case .gatt(let fault): fault.description
    case .impossible(let step):
      "A dialer reported '\(step.input)' while the connection was \(step.state.rawValue)."
    }
  }
}
