import OtaflashATT

/// An event during a call of `keepingConnected`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ReconnectionEvent: Equatable, Sendable {
  /// Consecutive attempt 1, 2, … starts after `wait`; `remaining` further attempts are permitted
  /// (`Int.max`: no limit).
  case willReconnect(attempt: Int, remaining: Int, wait: Duration, cause: PeripheralFault)
  /// The adapter is off; the next attempt starts when the adapter is on.
  case waitingForAdapter(cause: PeripheralFault)
  /// The connection was established again, by the attempt with this number.
  case reconnected(attempt: Int)
  /// No attempt is left, or another attempt cannot succeed.
  case gaveUp(attempts: Int, cause: PeripheralFault)
}

extension Peripheral {
  /// Runs `body` on a connection, and restarts `body` on a new connection each time the link is
  /// lost or cannot be established. After each loss, `body` repeats its reads, subscriptions and
  /// writes.
  ///
  /// `body` does not occupy the queue, so commands run concurrently with `body`, and their requests
  /// may be interleaved with its operations. Use a command for operations that must not be
  /// interleaved with other commands.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and the number of further attempts in a row. The count restarts when
  ///     a connection has lasted longer than the strategy's longest wait.
  ///   - random: returns a number, 0 ..< 1, for the strategy's jitter; `nil` uses the numbers of
  ///   the clock.
  ///   - adapter: the source of the adapter state. While the adapter is switched off, the call
  ///   waits without a limit. `nil`: the call throws immediately if the adapter is off.
  ///   - observe: called with each event. It must return quickly.
  ///   - body: the work on one connection; restarted after each loss.
  /// - Throws: the last failure if no attempt is left. A failure that a new connection cannot fix
  ///   is thrown immediately: a refusal, a violation, a missing permission or adapter, a
  ///   cancellation.
  public func keepingConnected<Output: Sendable>(
    _ strategy: ReconnectionStrategy = .exponential(), random: (() -> Double)? = nil,
    waitingFor adapter: (any AdapterMonitor)? = nil,
    reporting observe: (ReconnectionEvent) -> Void = { _ in },
    _ body: (GATTClient) async throws(GATTFault) -> Output
  ) async throws(PeripheralFault) -> Output {
    let pause = Pause(strategy: strategy, random: random, adapter: adapter)
    return try await keep(
      pause, observing: observe, judging: { $0 }, raising: { $0 },
      running: { (client) async throws(PeripheralFault) -> Output in
        do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
      })
  }

  /// Same as the overload with `GATTFault`, for a body that throws other errors. Errors of the body
  /// end the call and are rethrown unchanged; errors of the connection are thrown as
  /// `PeripheralFault`.
  @_disfavoredOverload
  public func keepingConnected<Output: Sendable>(
    _ strategy: ReconnectionStrategy = .exponential(), random: (() -> Double)? = nil,
    waitingFor adapter: (any AdapterMonitor)? = nil,
    reporting observe: (ReconnectionEvent) -> Void = { _ in },
    _ body: (GATTClient) async throws -> Output
  ) async throws -> Output {
    let pause = Pause(strategy: strategy, random: random, adapter: adapter)
    return try await keep(
      pause, observing: observe, judging: { PeripheralFault($0) }, raising: { $0 },
      running: { (client) async throws(any Error) -> Output in
        do { return try await body(client) } catch { throw PeripheralFault(error) ?? error }
      })
  }

  /// The parameters of the wait between two attempts.
  struct Pause {
    let strategy: ReconnectionStrategy
    let random: (() -> Double)?
    let adapter: (any AdapterMonitor)?
  }

  /// Runs `body` until it ends or no attempt is left.
  ///
  /// - Parameters:
  ///   - judge: returns the connection failure that an error represents; `nil` for an error of the
  ///     body.
  ///   - raise: converts a connection failure to the error to throw.
  private func keep<Output: Sendable, Failure: Error>(
    _ pause: Pause, observing observe: (ReconnectionEvent) -> Void,
    judging judge: (Failure) -> PeripheralFault?, raising raise: (PeripheralFault) -> Failure,
    running body: (GATTClient) async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    var attempt = 0
    while true {
      var connectedAt: LinkInstant?
      do throws(Failure) {
        let client: GATTClient
        do throws(PeripheralFault) {
          client = try await perform("connect") { (client) async throws(GATTFault) in client }
        } catch {
          throw raise(error)
        }
        connectedAt = clock.now
        if attempt > 0 { observe(.reconnected(attempt: attempt)) }
        return try await body(client)
      } catch {
        guard let fault = judge(error) else { throw error }
        if let connectedAt, connectedAt.duration(to: clock.now) > pause.strategy.ceiling {
          attempt = 0
        }
        guard await wait(pause, after: fault, &attempt, reporting: observe) else {
          if !Task.isCancelled { observe(.gaveUp(attempts: attempt, cause: fault)) }
          throw error
        }
      }
    }
  }

  /// Waits for the next attempt and counts it; returns `false` if no attempt is left, a new
  /// connection cannot resolve the fault, the wait for the adapter fails, or the task is cancelled.
  func wait(
    _ pause: Pause, after fault: PeripheralFault, _ attempt: inout Int,
    reporting observe: (ReconnectionEvent) -> Void
  ) async -> Bool {
    if case .connect(.adapterUnavailable) = fault, let adapter = pause.adapter {
      observe(.waitingForAdapter(cause: fault))
      let began = clock.now
      do throws(ScanFault) { try await adapter.waitUntilPoweredOn() } catch { return false }
      // If the adapter is already on, the failure is counted like any other failure.
      if clock.now > began { attempt = 0 }
    } else if !fault.isResolvedByReconnecting {
      return false
    }
    let fraction = pause.random?() ?? clock.randomFraction()
    let next = attempt + 1
    guard let delay = pause.strategy.delay(beforeAttempt: next, random: fraction) else {
      return false
    }
    attempt = next
    observe(
      .willReconnect(
        attempt: next, remaining: pause.strategy.remaining(after: next), wait: delay, cause: fault))
    return await clock.pause(for: delay)
  }
}
