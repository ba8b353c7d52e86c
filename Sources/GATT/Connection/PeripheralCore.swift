import OtaflashATT
import Synchronization

/// The capacities of a peripheral. Commands beyond the capacity are rejected; of the steps, the
/// oldest are dropped.
public struct PeripheralLimits: Equatable, Sendable {
  /// The maximum number of waiting commands, 0 or more; a further command is rejected with
  /// `QueueFault.full`.
  public var commandsWaiting = CommandQueue.waitingDefault
  /// The number of steps of the connection kept for an observer that does not read them, 1 or more.
  public var transitionsKept = 64

  /// Creates the default capacities.
  public init() {}
}

/// The state of a `Peripheral`, and the task that serves it. A running command may retain this
/// object after the peripheral is released.
final class PeripheralCore: Sendable {
  private struct State {
    var machine = ConnectionMachine()
    var client: GATTClient?
    var whereabouts = DeviceLocation.home
    var observers: [Mailbox<ConnectionTransition>] = []
    var isClosed = false
  }

  /// The maximum number of clients that were passed to the service task but are not served yet; all
  /// except the newest have ended.
  private static let clientsMaximum = 8

  let clock: any LinkClock
  let queue: CommandQueue
  private let dialer: Dialer
  private let limits: PeripheralLimits
  private let pin = DevicePin()
  private let clients = Mailbox<GATTClient>(capacity: PeripheralCore.clientsMaximum)
  private let jobs: Mailbox<@Sendable () async -> Void>
  private let state = Mutex(State())

  init(_ dialer: Dialer, clock: any LinkClock, limits: PeripheralLimits) {
    self.dialer = dialer
    self.clock = clock
    self.limits = limits
    queue = CommandQueue(waitingMaximum: limits.commandsWaiting)
    // All waiting commands and the running command may be jobs.
    jobs = Mailbox(capacity: limits.commandsWaiting + 1)
  }

  var connectionState: ConnectionState { state.withLock { $0.machine.state } }

  func transitions() -> TransitionStream {
    let mailbox = Mailbox<ConnectionTransition>(capacity: limits.transitionsKept)
    state.withLock { state in
      if state.isClosed { mailbox.finish() } else { state.observers.append(mailbox) }
    }
    return TransitionStream(mailbox: mailbox)
  }

  // MARK: The connection

  func connect(
    _ receiveMTU: ATTMTU, followsServiceChanges: Bool
  ) async throws(ConnectFault) -> GATTClient {
    if let client = connectedClient { return client }
    disconnect()
    if !dialer.reportsItsSteps { step(.connectStarted) }
    let link: any Link
    do throws(ConnectFault) {
      link = try await dialer.dial(
        DialRequest(whereabouts: whereabouts, pin: pin) { [self] input in step(input) })
    } catch {
      step(.failed(.connect(error)))
      throw error
    }
    if connectionState != .connecting { step(.connectStarted) }
    let bearer = ATTBearer(
      link: link, clock: clock, receiveMTU: receiveMTU,
      transactionTimeout: dialer.transactionLimit)
    let client = GATTClient(bearer: bearer, followsServiceChanges: followsServiceChanges) {
      [self] clientStep in step(ConnectionInput(clientStep), of: bearer)
    }
    guard clients.offer(client) else {
      link.close()
      step(.failed(.connect(.cancelled)))
      throw .cancelled
    }
    state.withLock { $0.client = client }
    step(.linkUp)
    return client
  }

  var whereabouts: DeviceLocation { state.withLock { $0.whereabouts } }

  func move(to whereabouts: DeviceLocation) {
    disconnect()
    state.withLock { $0.whereabouts = whereabouts }
  }

  var connectedClient: GATTClient? {
    state.withLock { $0.client }.flatMap { $0.ended == nil ? $0 : nil }
  }

  func disconnect() {
    guard let client = state.withLock({ $0.client.take() }) else { return }
    let lost = client.ended
    client.bearer.end(because: .linkLost(.closedLocally))
    step(lost.map { .failed(.gatt($0)) } ?? .closed)
  }

  /// Applies a report from a bearer, unless the bearer was replaced or has ended.
  private func step(_ input: ConnectionInput, of bearer: ATTBearer) {
    guard state.withLock({ $0.client?.bearer === bearer }) else { return }
    step(input)
  }

  private func step(_ input: ConnectionInput) {
    let (transition, observers) = state.withLock {
      state -> (ConnectionTransition, [Mailbox<ConnectionTransition>]) in
      let former = state.machine.state
      do throws(ConnectionMachine.IllegalStep) {
        return (try state.machine.apply(input), state.observers)
      } catch {
        let rejected = ConnectionTransition(from: former, to: former, failure: .impossible(error))
        return (rejected, state.observers)
      }
    }
    dialer.observe(transition)
    for observer in observers { observer.push(transition) }
  }

  // MARK: Life

  /// Adds a job for the service task, which starts jobs in the order of the calls. The place that a
  /// job has reserved in the queue determines when its command runs. Returns `false` if the
  /// peripheral is closed or too many jobs wait.
  func offer(_ job: @escaping @Sendable () async -> Void) -> Bool { jobs.offer(job) }

  /// Serves the connections, and the commands whose results are not awaited, until `close`.
  func serve() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await self.serveConnections() }
      while let job = await jobs.next() { group.addTask { await job() } }
      group.cancelAll()
    }
  }

  private func serveConnections() async {
    while let client = await clients.next() {
      async let upkeep: Void = client.keepUp()
      let cause = await client.bearer.run()
      await upkeep
      // The replacement of a bearer was reported when it happened.
      let isCurrent = state.withLock { state in
        guard state.client === client else { return false }
        state.client = nil
        return true
      }
      if isCurrent { step(.failed(.gatt(cause))) }
    }
  }

  /// Ends the connection and rejects every command. Safe to call twice and from any task.
  func close() {
    queue.close()
    clients.finish()
    disconnect()
    jobs.finish()
    let observers = state.withLock { state in
      state.isClosed = true
      defer { state.observers = [] }
      return state.observers
    }
    for observer in observers { observer.finish() }
  }
}
