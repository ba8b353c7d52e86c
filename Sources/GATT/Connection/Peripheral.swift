import OtaflashATT
import Synchronization

/// Why an operation on a peripheral failed.
public enum PeripheralFault: Error, Equatable, Sendable {
  case connect(ConnectFault)
  case gatt(GATTFault)
  /// Cancelled, or turned away, before its turn came.
  case queue(QueueFault<Never>)
}

/// A remote device: its connection, which may be lost and made again, and the queue of commands
/// that keeps them apart.
///
/// Made by `withPeripheral`, and valid inside its body.
public final class Peripheral: Sendable {
  private struct State {
    var machine = ConnectionMachine()
    var client: GATTClient?
    var whereabouts = Whereabouts.home
    var observers: [Mailbox<ConnectionTransition>] = []
    var isClosed = false
  }

  /// Bearers handed over and not yet served; all but the newest have ended.
  private static let bearersMaximum = 8
  /// Transitions kept for an observer that does not read them.
  private static let transitionsKept = 64

  public let clock: any LinkClock
  public let queue = CommandQueue()
  private let dialer: Dialer
  private let bearers = Mailbox<ATTBearer>(capacity: Peripheral.bearersMaximum)
  private let state = Mutex(State())

  fileprivate init(dialer: Dialer, clock: any LinkClock) {
    self.dialer = dialer
    self.clock = clock
  }

  /// Where the connection stands now.
  public var connectionState: ConnectionState { state.withLock { $0.machine.state } }

  /// Every step of the connection from now on. Bounded: the oldest are dropped for a slow reader.
  public func transitions() -> TransitionStream {
    let mailbox = Mailbox<ConnectionTransition>(capacity: Self.transitionsKept)
    state.withLock { state in
      if state.isClosed { mailbox.finish() } else { state.observers.append(mailbox) }
    }
    return TransitionStream(mailbox: mailbox)
  }

  // MARK: Commands

  /// Runs `command` when its turn comes, with the connection to itself.
  public func perform<Output, Failure>(
    _ command: Command<PeripheralTurn, Output, Failure>
  ) async throws(QueueFault<Failure>) -> Output {
    try await queue.perform(command, with: PeripheralTurn(peripheral: self))
  }

  /// Runs one piece of work on the connection in its turn, and connects first where needed.
  public func perform<Output: Sendable>(
    _ name: String, _ body: @escaping @Sendable (GATTClient) async throws(GATTFault) -> Output
  ) async throws(PeripheralFault) -> Output {
    let command = Command(onConnection: name, body)
    do throws(QueueFault<PeripheralFault>) {
      return try await perform(command)
    } catch {
      switch error {
      case .failed(let fault): throw fault
      case .cancelledInQueue: throw .queue(.cancelledInQueue)
      case .full(let limit): throw .queue(.full(limit: limit))
      case .closed: throw .queue(.closed)
      }
    }
  }

  /// Reads a characteristic in its turn.
  public func read(
    _ characteristic: BluetoothUUID, in service: BluetoothUUID
  ) async throws(PeripheralFault) -> [UInt8] {
    try await perform("read \(characteristic)") { (client) async throws(GATTFault) -> [UInt8] in
      try await client.read(try await client.characteristic(characteristic, in: service))
    }
  }

  /// Writes a characteristic in its turn.
  public func write(
    _ value: [UInt8], to characteristic: BluetoothUUID, in service: BluetoothUUID
  ) async throws(PeripheralFault) {
    try await perform("write \(characteristic)") { (client) async throws(GATTFault) in
      try await client.write(
        value, to: try await client.characteristic(characteristic, in: service))
    }
  }

  /// Subscribes in its turn; the values then flow beside whatever the queue does.
  ///
  /// - Parameter capacity: values kept for a reader that is slow, 1 or more; the oldest are dropped.
  public func subscribe(
    to characteristic: BluetoothUUID, in service: BluetoothUUID,
    buffering capacity: Int = GATTClient.notificationBufferDefault
  ) async throws(PeripheralFault) -> NotificationStream {
    try await perform("subscribe \(characteristic)") {
      (client) async throws(GATTFault) -> NotificationStream in
      try await client.subscribe(
        to: try await client.characteristic(characteristic, in: service), buffering: capacity)
    }
  }

  // MARK: The connection

  fileprivate func connect(_ receiveMTU: ATTMTU) async throws(ConnectFault) -> GATTClient {
    if let client = state.withLock({ $0.client }), client.ended == nil { return client }
    disconnect()
    let link: any Link
    do throws(ConnectFault) {
      link = try await dialer.dial(whereabouts) { [self] input in step(input) }
    } catch {
      step(.failed(.connect(error)))
      throw error
    }
    // A dialer that does not report has no scanning steps.
    if connectionState != .connecting { step(.connectStarted) }
    let bearer = ATTBearer(
      link: link, clock: clock, receiveMTU: receiveMTU,
      transactionTimeout: dialer.transactionLimit)
    let client = GATTClient(bearer: bearer) { [self] input in step(input) }
    guard bearers.offer(bearer) else {
      link.close()
      throw .cancelled
    }
    state.withLock { $0.client = client }
    step(.linkUp)
    return client
  }

  fileprivate var whereabouts: Whereabouts { state.withLock { $0.whereabouts } }

  fileprivate func move(to whereabouts: Whereabouts) {
    disconnect()
    state.withLock { $0.whereabouts = whereabouts }
  }

  fileprivate var connectedClient: GATTClient? {
    state.withLock { $0.client }.flatMap { $0.ended == nil ? $0 : nil }
  }

  fileprivate func disconnect() {
    guard let client = state.withLock({ $0.client.take() }) else { return }
    let lost = client.ended
    client.bearer.end(because: .linkLost(.closedLocally))
    step(lost.map { .failed(.gatt($0)) } ?? .closed)
  }

  fileprivate func step(_ input: ConnectionInput) {
    let published = state.withLock {
      state -> (ConnectionTransition, [Mailbox<ConnectionTransition>])? in
      do throws(ConnectionMachine.IllegalStep) {
        return (try state.machine.apply(input), state.observers)
      } catch {
        // A late report of a link that is gone already; the machine stays where it is.
        return nil
      }
    }
    guard let (transition, observers) = published else { return }
    dialer.observe(transition)
    for observer in observers { observer.push(transition) }
  }

  fileprivate func serve() async {
    while let bearer = await bearers.next() {
      let cause = await bearer.run()
      // A bearer that was replaced meanwhile has been reported when it was.
      let isCurrent = state.withLock { state in
        guard state.client?.bearer === bearer else { return false }
        state.client = nil
        return true
      }
      if isCurrent { step(.failed(.gatt(cause))) }
    }
  }

  fileprivate func close() {
    queue.close()
    bearers.finish()
    disconnect()
    let observers = state.withLock { state in
      state.isClosed = true
      return state.observers
    }
    for observer in observers { observer.finish() }
  }
}

/// A command's exclusive hold on a peripheral.
public struct PeripheralTurn: Sendable {
  let peripheral: Peripheral

  public var clock: any LinkClock { peripheral.clock }

  /// The connection, made first where there is none or it was lost.
  ///
  /// - Parameter receiveMTU: what a new connection tells a peer that asks for our MTU before
  ///   `GATTClient.requestMTU` does; the two must be the same.
  public func connect(
    receiveMTU: ATTMTU = .maximum
  ) async throws(ConnectFault) -> GATTClient {
    try await peripheral.connect(receiveMTU)
  }

  /// The connection, if there is one now.
  public var connectedClient: GATTClient? { peripheral.connectedClient }

  /// Waits until the peer or the radio ends the connection; `false` when it still stands at the
  /// limit. At once when there is none.
  @discardableResult
  public func waitUntilLost(within limit: Duration) async -> Bool {
    guard let client = connectedClient else { return true }
    return await client.waitUntilEnded(within: limit, on: clock)
  }

  /// Ends the connection; the next `connect` makes a new one.
  public func disconnect() { peripheral.disconnect() }

  /// Where the next `connect` looks for the device.
  public var whereabouts: Whereabouts { peripheral.whereabouts }

  /// Ends the connection and looks for the device elsewhere from now on, such as at its boot
  /// loader's own address.
  public func move(to whereabouts: Whereabouts) { peripheral.move(to: whereabouts) }
}

extension Command where Context == PeripheralTurn, Failure == PeripheralFault {
  /// A piece of work on a peripheral's connection, which is made first where there is none.
  public init(
    onConnection name: String,
    _ body: @escaping @Sendable (GATTClient) async throws(GATTFault) -> Output
  ) {
    self.init(name) { (turn) async throws(PeripheralFault) -> Output in
      let client: GATTClient
      do throws(ConnectFault) { client = try await turn.connect() } catch { throw .connect(error) }
      do throws(GATTFault) { return try await body(client) } catch { throw .gatt(error) }
    }
  }
}

/// The steps of a connection, in order.
public struct TransitionStream: AsyncSequence, Sendable {
  public struct AsyncIterator: AsyncIteratorProtocol {
    let mailbox: Mailbox<ConnectionTransition>

    public mutating func next() async -> ConnectionTransition? { await mailbox.next() }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Never) -> ConnectionTransition? { await mailbox.next() }
  }

  let mailbox: Mailbox<ConnectionTransition>

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(mailbox: mailbox) }
}

/// Gives `body` a peripheral, and closes its connection when `body` has ended, however it ended.
///
/// - Parameter dialer: makes a link each time a connection is needed.
public func withPeripheral<Value: Sendable, Failure: Error>(
  _ dialer: Dialer, clock: any LinkClock,
  _ body: @escaping @Sendable (Peripheral) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let peripheral = Peripheral(dialer: dialer, clock: clock)
  return try await withService {
    await peripheral.serve()
  } stop: {
    peripheral.close()
  } _: { () async throws(Failure) -> Value in
    try await body(peripheral)
  }
}
