import OtaflashATT
import Synchronization

/// What a peripheral may keep at most. Each bound refuses or drops what is beyond it, and says so.
public struct PeripheralLimits: Equatable, Sendable {
  /// Commands that wait for their turn; the next is refused with `QueueFault.full`. 0 or more.
  public var commandsWaiting = CommandQueue.waitingDefault
  /// Steps of the connection kept for an observer that does not read them. 1 or more.
  public var transitionsKept = 64

  /// The bounds where nothing else is asked for.
  public init() {}
}

/// The state behind a `Peripheral`, and the task that serves it. The peripheral may be let go of
/// while a command still has this.
final class PeripheralCore: Sendable {
  private struct State {
    var machine = ConnectionMachine()
    var client: GATTClient?
    var whereabouts = DeviceLocation.home
    var observers: [Mailbox<ConnectionTransition>] = []
    var isClosed = false
  }

  /// Clients handed over and not yet served; all but the newest have ended.
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
    // Each job holds a place in the queue: those that wait, and the one that runs.
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

  /// A report of a link that has been replaced or has ended is none of this connection's.
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
        let told = ConnectionTransition(from: former, to: former, failure: .impossible(error))
        return (told, state.observers)
      }
    }
    dialer.observe(transition)
    for observer in observers { observer.push(transition) }
  }

  // MARK: Life

  /// Takes a job that its own task runs, in the order of the calls as far as the queue gives them
  /// their turns.
  func offer(_ job: @escaping @Sendable () async -> Void) -> Bool { jobs.offer(job) }

  /// Serves the connections and the commands that nobody waits for, until `close`.
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
      // One that was replaced meanwhile has been reported when it was.
      let isCurrent = state.withLock { state in
        guard state.client === client else { return false }
        state.client = nil
        return true
      }
      if isCurrent { step(.failed(.gatt(cause))) }
    }
  }

  /// Ends the connection and turns away every command. Safe to call twice and from any task.
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
