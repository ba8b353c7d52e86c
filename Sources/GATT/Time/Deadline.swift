import OtaflashATT

/// Runs `body` and cancels it at `deadline`.
///
/// The function returns after `body` has ended, so nothing is left running. If `body` returns a
/// result despite its cancellation, the result is kept.
///
/// - Parameters:
///   - deadline: an instant of `clock`; `body` is cancelled immediately if the instant has passed.
///   - clock: the clock for the deadline.
///   - timeout: the error to throw at the deadline.
///   - body: the work; it is cancelled at the deadline, and should then end quickly.
/// - Throws: the error of `body`, or `timeout` if the deadline ended `body`.
public func withDeadline<Value: Sendable, Failure: Error>(
  _ deadline: LinkInstant, on clock: any LinkClock, orThrow timeout: Failure,
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  try await withDeadline(deadline, on: clock, turning: { _ in timeout }, body)
}

/// Runs `body`, which may throw any type of error, and cancels it at `deadline`.
@_disfavoredOverload
public func withDeadline<Value: Sendable>(
  _ deadline: LinkInstant, on clock: any LinkClock, orThrow timeout: any Error,
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withDeadline(
    deadline, on: clock, turning: { (_: any Error) in timeout }
  ) { () async throws(any Error) -> Value in try await body() }
}

/// Runs `body` and cancels it at `deadline`; `turning` creates the error at the deadline from the
/// error of `body`.
func withDeadline<Value: Sendable, Failure: Error>(
  _ deadline: LinkInstant, on clock: any LinkClock, turning: (Failure) -> Failure,
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let result = await withTaskGroup(
    of: Result<Value, Failure>?.self, returning: Result<Value, Failure>.self
  ) { group in
    group.addTask {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    group.addTask {
      await clock.pause(until: deadline)
      return nil
    }
    if case .some(.some(let finished)) = await group.next() {
      group.cancelAll()
      return finished
    }
    let cancelledFromOutside = Task.isCancelled
    group.cancelAll()
    guard case .some(.some(let finished)) = await group.next() else {
      preconditionFailure("the group holds one body and one timer")
    }
    switch finished {
    case .success: return finished
    case .failure(let failure): return cancelledFromOutside ? finished : .failure(turning(failure))
    }
  }
  return try result.get()
}
