/// Why a queued command gave no result.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum QueueFault<Failure: Error>: Error {
  /// The caller was cancelled before the command's turn came; the command did not run.
  case cancelledInQueue
  /// As many commands wait as the queue holds.
  case full(limit: Int)
  /// The queue takes no commands any more.
  case closed
  /// The command ran and failed.
  case failed(Failure)
  /// The time limit that decorates the queue ran out.
  case timedOut(after: Duration)
  /// What decorates the queue, before or behind the command, failed.
  case preparationFailed(any Error)

  /// The same fault where the command's own failure means another.
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
