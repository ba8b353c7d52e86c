/// Runs `body` to its end even when the calling task is cancelled: for saying goodbye to a device.
///
/// A task that is not a child, as that of `HeldService` is: such are made in this file alone. It is
/// awaited before this returns, so nothing is left running, and it stays on the caller's executor,
/// so a simulation stays deterministic. `body` must have a bound of its own.
package func shielded<Value: Sendable>(
  _ body: @escaping @Sendable () async -> Value
) async -> Value {
  let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
  return await Task(executorPreference: executor) { await body() }.value
}

/// Runs `body` beside `service`, and ends `service` (by `stop`) when `body` has ended.
///
/// Cancelling the caller cancels `body` alone: the service lives until `body` has had its say, so
/// that a cancelled procedure can still tell the device.
package func withService<Value: Sendable, Failure: Error>(
  _ service: @escaping @Sendable () async -> Void, stop: @escaping @Sendable () -> Void,
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let cancelled = OneShot<Void>()
  let result: Result<Value, Failure> = await withTaskCancellationHandler {
    await shielded {
      await withTaskGroup(of: Void.self, returning: Result<Value, Failure>.self) { group in
        group.addTask { await service() }
        let result = await runCancellably(until: cancelled, body)
        stop()
        await group.waitForAll()
        return result
      }
    }
  } onCancel: {
    cancelled.fulfil(())
  }
  return try result.get()
}

/// The same for a `service` that is ended by cancelling it.
package func withService<Value: Sendable, Failure: Error>(
  _ service: @escaping @Sendable () async -> Void,
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let ended = OneShot<Void>()
  return try await withService(
    { _ = await runCancellably(until: ended, service) }, stop: { ended.fulfil(()) }, body)
}

/// Runs `body` in a child task that is cancelled when `signal` is set.
package func runCancellably<Value: Sendable, Failure: Error>(
  until signal: OneShot<Void>, _ body: @escaping @Sendable () async throws(Failure) -> Value
) async -> Result<Value, Failure> {
  await withTaskGroup(of: Result<Value, Failure>?.self) { group in
    group.addTask {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    group.addTask {
      _ = await signal.wait()
      return nil
    }
    while let finished = await group.next() {
      group.cancelAll()
      if let finished { return finished }
    }
    preconditionFailure("the body always ends with a result")
  }
}

/// A task that serves an object which is held and not scoped, on the executor of the task that made
/// it. Whoever holds it makes `service` return.
package final class HeldService: Sendable {
  private let task: Task<Void, Never>

  package init(_ service: @escaping @Sendable () async -> Void) {
    let executor = withUnsafeCurrentTask { $0?.unownedTaskExecutor?.asTaskExecutor() }
    task = Task(executorPreference: executor) { await service() }
  }

  package func cancel() { task.cancel() }

  /// Waits until `service` has returned.
  package func ended() async { await task.value }
}
