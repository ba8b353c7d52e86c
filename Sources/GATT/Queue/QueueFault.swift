/// The reason why a queued command has no result.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum QueueFault<Failure: Error>: Error {
  /// The caller was cancelled before the command started; the command did not run.
  case cancelledInQueue
  /// The queue is full.
  case full(limit: Int)
  /// The queue accepts no further commands.
  case closed
  /// The command ran and failed.
  case failed(Failure)
  /// The time limit of a decorator of the queue expired.
  case timedOut(after: Duration)
  /// A decorator of the queue failed before or after the command.
  case preparationFailed(any Error)

  /// Returns the same fault, with the command's own failure converted.
  func mapped<Other>(_ transform: (Failure) -> QueueFault<Other>) -> QueueFault<Other> {
    switch self {
    case .cancelledInQueue: .cancelledInQueue
    case .full(let limit): .full(limit: limit)
    case .closed: .closed
    case .failed(let failure): transform(failure)
    case .timedOut(let limit): .timedOut(after: limit)
    case .preparationFailed(let error): .preparationFailed(error)
    }
  }
}

extension QueueFault: Equatable where Failure: Equatable {
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.cancelledInQueue, .cancelledInQueue), (.closed, .closed): true
    case (.full(let one), .full(let other)): one == other
    case (.failed(let one), .failed(let other)): one == other
    case (.timedOut(let one), .timedOut(let other)): one == other
    case (.preparationFailed(let one), .preparationFailed(let other)):
      (one as? any Equatable)?.equals(other) ?? false
    case (.cancelledInQueue, _), (.closed, _), (.full, _), (.failed, _), (.timedOut, _),
      (.preparationFailed, _):
      false
    }
  }
}

extension Equatable {
  fileprivate func equals(_ other: Any) -> Bool { other as? Self == self }
}
