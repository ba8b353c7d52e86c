import OtaflashATT
import OtaflashGATT
import Synchronization

/// Wakes the one task that waits for a change and then reads the new state itself. If no task
/// waits, one signal is stored, so that a change between reading and waiting is never missed.
final class WakeSignal: Sendable {
  private enum State {
    case idle
    case signalled
    case waiting(UnsafeContinuation<Void, Never>)
  }

  private let state = Mutex(State.idle)

  /// Returns after the next signal; immediately if a signal is stored or the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isOver = state.withLock { state in
          switch state {
          case .signalled:
            state = .idle
            return true
          case .idle where Task.isCancelled:
            return true
          case .idle:
            state = .waiting(continuation)
            return false
          case .waiting:
            preconditionFailure("two tasks wait for one signal")
          }
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      signal()
    }
  }

  func signal() {
    let waiter = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      switch state {
      case .idle, .signalled:
        state = .signalled
        return nil
      case .waiting(let continuation):
        state = .idle
        return continuation
      }
    }
    waiter?.resume()
  }

  /// Returns after the next signal, at the deadline, or when the task is cancelled.
  func wait(until deadline: LinkInstant, on clock: any LinkClock) async {
    await withTaskGroup { group in
      group.addTask { await self.wait() }
      group.addTask { _ = await clock.pause(until: deadline) }
      await group.next()
      group.cancelAll()
    }
  }
}
