import OtaflashATT

/// A remote device: its connection, which may be lost and established again, and the queue that
/// runs one command at a time.
///
/// `withPeripheral` passes a peripheral to a body and closes it afterwards. A peripheral created by
/// `init` lives as long as a reference to it exists, for example in an app's model. Releasing the
/// last reference has the effect of `close`.
public final class Peripheral: CommandPerformer {
  /// The context of the commands of this peripheral.
  public typealias Context = PeripheralTurn

  let core: PeripheralCore
  /// The service task of a peripheral that is not bound to a scope.
  private let service: HeldService?

  /// Creates a peripheral that the caller owns. The first operation connects.
  ///
  /// A separate task serves the peripheral, on the executor of the task that creates the
  /// peripheral. When the last reference is released, the connection is closed immediately, streams
  /// of its values end with `.linkLost`, and waiting commands are rejected.
  ///
  /// - Parameters:
  ///   - dialer: creates a link each time a connection is needed.
  ///   - clock: the clock for all waits of the peripheral's connections.
  ///   - limits: the capacity of the peripheral's queues.
  public init(
    _ dialer: Dialer, clock: any LinkClock, limits: PeripheralLimits = PeripheralLimits()
  ) {
    let core = PeripheralCore(dialer, clock: clock, limits: limits)
    self.core = core
    service = HeldService { await core.serve() }
  }

  fileprivate init(core: PeripheralCore) {
    self.core = core
    service = nil
  }

  deinit { core.close() }

  /// The clock for waits in the connections of this peripheral.
  public var clock: any LinkClock { core.clock }

  /// The current state of the connection.
  public var connectionState: ConnectionState { core.connectionState }

  /// The number of waiting commands.
  public var waitingCount: Int { core.queue.waitingCount }

  /// Returns all subsequent steps of the connection. The buffer is bounded: if the reader is slow,
  /// the oldest steps are dropped.
  public func transitions() -> TransitionStream { core.transitions() }

  // MARK: The connection

  /// Connects after the commands that already wait, if there is no connection. Every operation
  /// connects automatically.
  public func connect() async throws(PeripheralFault) {
    try await perform("connect") { (_) async throws(GATTFault) in }
  }

  /// Ends the connection, after the commands that already wait. The next operation connects again.
  public func disconnect() async throws(PeripheralFault) {
    let command = Command<PeripheralTurn, Void, PeripheralFault>("disconnect") { turn in
      turn.disconnect()
    }
    do throws(QueueFault<PeripheralFault>) { try await perform(command) } catch {
      throw PeripheralFault(error)
    }
  }

  /// Ends the connection immediately, rejects all present and future commands, and returns when all
  /// tasks of the peripheral have ended.
  public func close() async {
    core.close()
    await service?.ended()
  }

  // MARK: Commands

  /// Runs `command` after the commands that already wait, with exclusive use of the connection.
  public func perform<Output, Failure>(
    _ command: Command<PeripheralTurn, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output {
    try await core.queue.perform(command, with: PeripheralTurn(core))
  }

  /// Adds `command` to the queue, from any context and without waiting. Commands run in the order
  /// of these calls and of calls to `perform`. The peripheral runs the command even if the result
  /// is not awaited.
  @discardableResult
  public func enqueue<Output, Failure>(
    _ command: Command<PeripheralTurn, Output, Failure>
  ) -> EnqueuedCommand<Output, Failure> {
    let core = core
    let ticket = CommandTicket<Output, Failure>()
    let enqueued = EnqueuedCommand(ticket)
    let place = core.queue.reserve()
    if case .settled(.full) = place {
      ticket.settle(.failure(.full(limit: core.queue.waitingMaximum)))
      return enqueued
    }
    let isTaken = core.offer {
      await ticket.run { () async throws(QueueFault<Failure>) -> Output in
        try await core.queue.perform(command, with: PeripheralTurn(core), at: place) {
          ticket.isCancelled
        }
      }
    }
    if !isTaken {
      core.queue.giveUp(place)
      ticket.settle(.failure(.closed))
    }
    return enqueued
  }
}

/// Passes a peripheral to `body`, and closes its connection when `body` ends, even if `body`
/// throws.
///
/// - Parameters:
///   - dialer: creates a link each time a connection is needed.
///   - clock: the clock for all waits of the peripheral's connections.
///   - limits: the capacity of the peripheral's queues.
///   - body: the work; the peripheral is closed after it.
public func withPeripheral<Value: Sendable, Failure: Error>(
  _ dialer: Dialer, clock: any LinkClock, limits: PeripheralLimits = PeripheralLimits(),
  _ body: @escaping @Sendable (Peripheral) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let core = PeripheralCore(dialer, clock: clock, limits: limits)
  let peripheral = Peripheral(core: core)
  return try await withService {
    await core.serve()
  } stop: {
    core.close()
  } _: { () async throws(Failure) -> Value in
    try await body(peripheral)
  }
}
