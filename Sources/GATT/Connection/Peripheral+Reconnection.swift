import OtaflashATT

/// What goes on while a connection is kept.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ReconnectionEvent: Equatable, Sendable {
  /// Attempt 1, 2, … in a row will be made after `wait`; `remaining` further ones may follow it
  /// (`Int.max`: as many as it takes).
  case willReconnect(attempt: Int, remaining: Int, wait: Duration, cause: PeripheralFault)
  /// The adapter is off; the next attempt is made when it is on.
  case waitingForAdapter(cause: PeripheralFault)
  /// The connection stands again, at the attempt of this number.
  case reconnected(attempt: Int)
  /// No attempt is left, or none would help.
  case gaveUp(attempts: Int, cause: PeripheralFault)
}

extension Peripheral {
  /// Runs `body` on a connection, and again from its beginning on a new one each time the link is
  /// lost or cannot be made: what it has to ask, subscribe and write is the same after every loss.
  ///
  /// `body` does not hold the queue, so that commands go on beside it; each of its own operations
  /// is one request at a time. What must not be interleaved with others is a command.
  ///
  /// - Parameters:
  ///   - strategy: the waits, and how many further attempts there may be in a row. The count starts
  ///     over when a connection has lasted longer than the strategy's longest wait.
  ///   - random: 0 ..< 1 for the strategy's jitter; `nil` takes the clock's.
  ///   - adapter: an adapter that was switched off is waited for, for as long as that takes; `nil`
  ///     ends at once.
  ///   - observe: told of each attempt. It must return soon.
  ///   - body: the work on one connection, which begins anew after each loss.
  /// - Throws: the last failure when no attempt is left, and at once what no new connection mends:
  ///   a refusal, a violation, a missing right or adapter, a cancellation.
  public func keepingConnected<Output: Sendable>(
    _ strategy: ReconnectionStrategy = .exponential(), random: (() -> Double)? = nil,
    waitingFor adapter: (any AdapterMonitor)? = nil,
    telling observe: (ReconnectionEvent) -> Void = { _ in },
    _ body: (GATTClient) async throws(GATTFault) -> Output
  ) async throws(PeripheralFault) -> Output {
    let pause = Pause(strategy: strategy, random: random, adapter: adapter)
    return try await keep(
      pause, telling: observe, judging: { $0 }, raising: { $0 },
      running: { (client) async throws(PeripheralFault) -> Output in
        do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
      })
  }

  /// As above, for a body with errors of its own, which end it and are thrown as they are; those of
  /// the connection are thrown as `PeripheralFault`.
  @_disfavoredOverload
  public func keepingConnected<Output: Sendable>(
    _ strategy: ReconnectionStrategy = .exponential(), random: (() -> Double)? = nil,
    waitingFor adapter: (any AdapterMonitor)? = nil,
    telling observe: (ReconnectionEvent) -> Void = { _ in },
    _ body: (GATTClient) async throws -> Output
  ) async throws -> Output {
    let pause = Pause(strategy: strategy, random: random, adapter: adapter)
    return try await keep(
      pause, telling: observe, judging: { PeripheralFault($0) }, raising: { $0 },
      running: { (client) async throws(any Error) -> Output in
        do { return try await body(client) } catch { throw PeripheralFault(error) ?? error }
      })
  }

  /// What is between two attempts.
  struct Pause {
    let strategy: ReconnectionStrategy
    let random: (() -> Double)?
    let adapter: (any AdapterMonitor)?
  }

  /// - Parameters:
  ///   - judge: the failure of the connection that an error is; `nil` for one of the body's own.
  ///   - raise: how such a failure is thrown.
  private func keep<Output: Sendable, Failure: Error>(
    _ pause: Pause, telling observe: (ReconnectionEvent) -> Void,
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
        guard await wait(pause, after: fault, &attempt, telling: observe) else {
          if !Task.isCancelled { observe(.gaveUp(attempts: attempt, cause: fault)) }
          throw error
        }
      }
    }
  }

  /// Waits for the next attempt and counts it; `false` when there is none.
  func wait(
    _ pause: Pause, after fault: PeripheralFault, _ attempt: inout Int,
    telling observe: (ReconnectionEvent) -> Void
  ) async -> Bool {
    if case .connect(.adapterUnavailable) = fault, let adapter = pause.adapter {
      observe(.waitingForAdapter(cause: fault))
      let began = clock.now
      do throws(ScanFault) { try await adapter.waitUntilPoweredOn() } catch { return false }
      // An adapter that says it is on at once counts as any other failure does.
      if clock.now > began { attempt = 0 }
    } else if !fault.isMendedByConnecting {
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
