import Synchronization

/// The result and the cancellation of a command that was enqueued without waiting for its result.
final class CommandTicket<Output: Sendable, Failure: Error>: Sendable {
  private struct State {
    var isCancelled = false
    var result: Result<Output, QueueFault<Failure>>?
    var waiters: [OneShot<Void>] = []
  }

  private let cancelled = OneShot<Void>()
  private let state = Mutex(State())

  var value: Output {
    get async throws(QueueFault<Failure>) {
      let waiter = state.withLock { state -> OneShot<Void>? in
        guard state.result == nil else { return nil }
        let waiter = OneShot<Void>()
        state.waiters.append(waiter)
        return waiter
      }
      if let waiter { await shielded { _ = await waiter.wait() } }
      guard let result = state.withLock({ $0.result }) else {
        preconditionFailure("a waiter is woken by the result")
      }
      return try result.get()
    }
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    cancelled.fulfil(())
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func run(_ body: @escaping @Sendable () async throws(QueueFault<Failure>) -> Output) async {
    settle(await runCancellably(until: cancelled, body))
  }

  func settle(_ result: Result<Output, QueueFault<Failure>>) {
    let waiters = state.withLock { state in
      state.result = result
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.fulfil(()) }
  }
}
