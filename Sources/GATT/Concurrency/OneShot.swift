import Synchronization

/// A value that one task sets and one task awaits. No other type of this module turns a wait into a
/// continuation. The continuation is resumed exactly once, by the value or by cancellation.
package final class OneShot<Value: Sendable>: Sendable {
  private enum State {
    case empty
    case waiting(CheckedContinuation<Value?, Never>)
    case filled(Value)
    case spent
  }

  private let state = Mutex(State.empty)

  package init() {}

  /// Sets the value. Only the first call sets the value; a later call, or a call after the wait was
  /// cancelled, has no effect and returns `false`.
  @discardableResult
  package func fulfil(_ value: Value) -> Bool {
    let (accepted, waiter) = state.withLock {
      state -> (Bool, CheckedContinuation<Value?, Never>?) in
      switch state {
      case .empty:
        state = .filled(value)
        return (true, nil)
      case .waiting(let continuation):
        state = .spent
        return (true, continuation)
      case .filled, .spent:
        return (false, nil)
      }
    }
    waiter?.resume(returning: value)
    return accepted
  }

  /// Waits for the value; returns `nil` if the task was cancelled first. May be called only once.
  package func wait() async -> Value? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
        let ready = state.withLock { state -> (resume: Bool, value: Value?) in
          switch state {
          case .empty:
            state = .waiting(continuation)
            return (false, nil)
          case .filled(let value):
            state = .spent
            return (true, value)
          case .spent:
            return (true, nil)
          case .waiting:
            preconditionFailure("a second task waits for a one-shot value")
          }
        }
        if ready.resume { continuation.resume(returning: ready.value) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> CheckedContinuation<Value?, Never>? in
        switch state {
        case .empty:
          state = .spent
          return nil
        case .waiting(let continuation):
          state = .spent
          return continuation
        case .filled, .spent:
          return nil
        }
      }
      waiter?.resume(returning: nil)
    }
  }
}
