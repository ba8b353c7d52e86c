import Synchronization

/// A wait that ends exactly once: by `end`, or with its task. All callbacks of a system are bridged
/// here.
final class Waiter: Sendable {
  private enum State {
    case fresh
    case waiting(CheckedContinuation<Void, Never>)
    case ended
  }

  private let state = Mutex(State.fresh)

  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if case .ended = state { return true }
          state = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      end()
    }
  }

  func end() {
    let former = state.withLock { state in
      defer { state = .ended }
      return state
    }
    if case .waiting(let continuation) = former { continuation.resume() }
  }
}
