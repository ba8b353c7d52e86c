/// Runs `body` until it ends, even if the calling task is cancelled, so that the last messages to a
/// device are sent.
///
/// `body` runs in an unstructured task, like the service of `HeldService`. The function awaits this
/// task, so nothing is left running. The task stays on the caller's executor, so a simulation stays
/// deterministic. `body` must have its own time limit.
package func shielded<Value: Sendable>(
  _ body: @escaping @Sendable () async -> Value
) async -> Value {
  let executor = currentTaskExecutor()
  return await Task(executorPreference: executor) { await body() }.value
}

/// Runs `body` concurrently with `service`, and ends `service` (with `stop`) when `body` has ended.
///
/// Cancelling the caller cancels only `body`: the service lives until `body` has ended, so that a
/// cancelled procedure can still send to the device.
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

/// Runs `body` concurrently with `service`, and cancels `service` when `body` has ended.
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

/// A task that runs the service loop of an object whose lifetime is not bound to a scope, on the
/// executor of the task that created the object. The owner must make `service` return.
package final class HeldService: Sendable {
  private let task: Task<Void, Never>

  package init(_ service: @escaping @Sendable () async -> Void) {
    let executor = currentTaskExecutor()
    task = Task(executorPreference: executor) { await service() }
  }

  package func cancel() { task.cancel() }

  /// Waits until `service` has returned.
  package func ended() async { await task.value }
}

/// Returns the preferred executor of the current task.
private func currentTaskExecutor() -> (any TaskExecutor)? {
  let unowned = withUnsafeCurrentTask { $0?.unownedTaskExecutor }
  #if compiler(>=6.3)
  return unowned?.asTaskExecutor()
  #else
  // The method is internal in Swift 6.2. It converts the reference in the same way.
  return unowned.flatMap { unsafeBitCast($0, to: (any TaskExecutor)?.self) }
  #endif
}
