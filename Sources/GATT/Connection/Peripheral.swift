import OtaflashATT

/// A remote device: its connection, which may be lost and made again, and the queue of commands
/// that keeps them apart.
///
/// `withPeripheral` gives one to a body and ends with it. One that is made by `init` is held, by an
/// app's model for instance, as long as somebody refers to it: it then ends as by `close`.
public final class Peripheral: CommandPerformer {
  /// What its commands get.
  public typealias Context = PeripheralTurn

  let core: PeripheralCore
  /// What serves a peripheral that no scope does.
  private let service: HeldService?

  /// A peripheral that is held. Nothing is connected before the first operation.
  ///
  /// It is served by a task of its own, on the executor of the task that makes it. With the last
  /// reference the connection is closed at once, streams of its values end with `.linkLost`, and
  /// commands that were enqueued and wait are turned away.
  ///
  /// - Parameters:
  ///   - dialer: makes a link each time a connection is needed.
  ///   - clock: for every wait of its connections.
  ///   - limits: what it may keep at most.
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

  /// The clock of its connections' waits.
  public var clock: any LinkClock { core.clock }

  /// Where the connection stands now.
  public var connectionState: ConnectionState { core.connectionState }

  /// How many commands wait for their turn.
  public var waitingCount: Int { core.queue.waitingCount }

  /// Every step of the connection from now on. Bounded: the oldest are dropped for a slow reader.
  public func transitions() -> TransitionStream { core.transitions() }

  // MARK: The connection

  /// Connects in its turn, where there is no connection. Every operation does so by itself.
  public func connect() async throws(PeripheralFault) {
    try await perform("connect") { (_) async throws(GATTFault) in }
  }

  /// Ends the connection in its turn, after the commands that wait already; the next operation
  /// makes a new one.
  public func disconnect() async throws(PeripheralFault) {
    let command = Command<PeripheralTurn, Void, PeripheralFault>("disconnect") { turn in
      turn.disconnect()
    }
    do throws(QueueFault<PeripheralFault>) { try await perform(command) } catch {
      throw PeripheralFault(error)
    }
  }

  /// Ends the connection now, turns away every command, now and later, and returns when nothing of
  /// the peripheral runs any more.
  public func close() async {
    core.close()
    await service?.ended()
  }

  // MARK: Commands

  /// Runs `command` when its turn comes, with the connection to itself.
  public func perform<Output, Failure>(
    _ command: Command<PeripheralTurn, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output {
    try await core.queue.perform(command, with: PeripheralTurn(core))
  }

  /// Puts `command` in the queue, from anywhere and at once: commands run in the order of these
  /// calls and those of `perform`. The peripheral runs it, whether or not somebody waits for its
  /// result.
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

/// Gives `body` a peripheral, and closes its connection when `body` has ended, however it ended.
///
/// - Parameters:
///   - dialer: makes a link each time a connection is needed.
///   - clock: for every wait of its connections.
///   - limits: what it may keep at most.
///   - body: the work; the peripheral is closed behind it.
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
