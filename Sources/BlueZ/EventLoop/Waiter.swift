import Synchronization

/// The result of a wait on the event loop.
enum WaitOutcome: Equatable, Sendable {
  /// The descriptor is ready. If `hungUp` is true, the kernel also reports an error or the end of
  /// the stream.
  case ready(hungUp: Bool)
  /// The deadline was reached first.
  case timedOut
  /// The waiting task was cancelled first.
  case cancelled
  /// The descriptor was removed from the loop.
  case closed
}

/// One suspended task, resumed exactly once: the first call of `finish` determines the outcome.
final class Waiter: Sendable {
  private enum State {
    case idle
    case waiting(CheckedContinuation<WaitOutcome, Never>)
    case finished(WaitOutcome)
  }
  private let state = Mutex(State.idle)

  /// Ends the wait; has no effect if the wait has already ended.
  func finish(_ outcome: WaitOutcome) {
    let continuation = state.withLock { state -> CheckedContinuation<WaitOutcome, Never>? in
      switch state {
      case .idle:
        state = .finished(outcome)
        return nil
      case .waiting(let continuation):
        state = .finished(outcome)
        return continuation
      case .finished:
        return nil
      }
    }
    continuation?.resume(returning: outcome)
  }

  /// Waits for `finish` or the task's cancellation; returns the outcome. May be called once.
  func outcome() async -> WaitOutcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in suspend(continuation) }
    } onCancel: {
      finish(.cancelled)
    }
  }

  private func suspend(_ continuation: CheckedContinuation<WaitOutcome, Never>) {
    let outcome = state.withLock { state -> WaitOutcome? in
      switch state {
      case .idle:
        state = .waiting(continuation)
        return nil
      case .finished(let outcome):
        return outcome
      case .waiting:
        preconditionFailure("a waiter is awaited twice")
      }
    }
    if let outcome { continuation.resume(returning: outcome) }
  }
}
