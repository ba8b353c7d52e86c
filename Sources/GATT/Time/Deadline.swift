import OtaflashATT

/// Runs `body` and cancels it when `deadline` comes first.
///
/// `body` has ended, one way or the other, when this returns: nothing is left running behind. A
/// result that `body` still produced in spite of its cancellation is not thrown away.
///
/// - Parameters:
///   - deadline: an instant of `clock`; one that has passed gives `body` no time.
///   - clock: measures the time.
///   - timeout: what the caller is told then.
///   - body: is cancelled when its time is up; it should end soon then.
/// - Throws: what `body` throws, or `timeout` when the deadline ended it.
public func withDeadline<Value: Sendable, Failure: Error>(
  _ deadline: LinkInstant, on clock: any LinkClock, orThrow timeout: Failure,
  _ body: @escaping @Sendable () async throws(Failure) -> Value
) async throws(Failure) -> Value {
  try await withDeadline(deadline, on: clock, turning: { _ in timeout }, body)
}

/// As above, for a body with errors of any type.
@_disfavoredOverload
public func withDeadline<Value: Sendable>(
  _ deadline: LinkInstant, on clock: any LinkClock, orThrow timeout: any Error,
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withDeadline(
    deadline, on: clock, turning: { (_: any Error) in timeout }
  ) { () async throws(any Error) -> Value in try await body() }
}

/// As above; what is thrown when the deadline ended `body` is made of what `body` threw then.
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
