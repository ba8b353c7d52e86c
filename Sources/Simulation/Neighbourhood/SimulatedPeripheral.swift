import OtaflashATT
import OtaflashGATT
import Synchronization

/// A simulated device with any services: it advertises, serves one host at a time over the modeled
/// radio, and runs its own behavior concurrently.
///
/// ```swift
/// let strap = try SimulatedPeripheral(
///   advertising: advertisement, server: server, clock: clock
/// ) { strap in
///   while await clock.pause(for: .seconds(1)) { strap.server.notify(handle, value) }
/// }
/// ```
public final class SimulatedPeripheral: Sendable {
  private struct State {
    var connection: SimulatedConnection?
    var outOfRangeUntil = LinkInstant.start
    var connectionCount: UInt64 = 0
    var isOff = false
  }

  /// The advertisement of the device.
  public let advertisement: Advertisement
  /// The advertising interval.
  public let advertisingInterval: Duration
  /// The server of the device; send notifications and indications with it.
  public let server: GATTServer
  private let radio: RadioModel
  private let clock: any LinkClock
  private let behaviour: @Sendable (SimulatedPeripheral) async -> Void
  private let accepted = Mailbox<SimulatedConnection>(capacity: 1)
  private let state = Mutex(State())

  /// - Parameters:
  ///   - advertisement: the advertisement of the device; its `id` must be unique in range.
  ///   - advertisingInterval: 20 ms…10.24 s (Core 5.4, Vol 6, Part B, 4.4.2.2).
  ///   - server: the server for connected hosts.
  ///   - radio: intervals, packet sizes and losses of its connections.
  ///   - clock: the clock of device and host.
  ///   - behaviour: the activity of the device while it has power. The closure returns, or ends
  ///     when its task is cancelled.
  /// - Throws: the errors of `RadioModel.validate()`.
  public init(
    advertising advertisement: Advertisement,
    every advertisingInterval: Duration = .milliseconds(100),
    server: GATTServer, radio: RadioModel = RadioModel(), clock: any LinkClock,
    behaviour: @escaping @Sendable (SimulatedPeripheral) async -> Void = { _ in }
  ) throws(RadioModelFault) {
    precondition(
      advertisingInterval >= .milliseconds(20) && advertisingInterval <= .milliseconds(10_240),
      "an advertising interval is 20 ms...10.24 s")
    try radio.validate()
    self.advertisement = advertisement
    self.advertisingInterval = advertisingInterval
    self.server = server
    self.radio = radio
    self.clock = clock
    self.behaviour = behaviour
  }

  /// Moves the device out of range for a time. A connection is lost, which both sides detect after
  /// the supervision timeout, and no advertisement is received.
  public func leaveRange(for duration: Duration) {
    let connection = state.withLock { state in
      state.outOfRangeUntil = max(state.outOfRangeUntil, clock.now.advanced(by: duration))
      return state.connection
    }
    connection?.cut()
  }

  /// Whether a host receives an advertisement that is sent now. A connected device does not
  /// advertise.
  var isHeard: Bool {
    state.withLock { Self.isHeard($0, at: clock.now) }
  }

  private static func isHeard(_ state: State, at now: LinkInstant) -> Bool {
    !state.isOff && state.connection == nil && state.outOfRangeUntil <= now
  }

  /// Accepts a connection; returns `nil` if the device is out of range, connected or off.
  func connect(random: SeededRandom) -> SimulatedLink? {
    let connection = state.withLock { state -> SimulatedConnection? in
      guard Self.isHeard(state, at: clock.now) else { return nil }
      state.connectionCount += 1
      let connection = makeConnection(random: random.forked(for: state.connectionCount))
      state.connection = connection
      return connection
    }
    guard let connection, accepted.offer(connection) else { return nil }
    return connection.central
  }

  private func makeConnection(random: SeededRandom) -> SimulatedConnection {
    do throws(RadioModelFault) {
      return try SimulatedConnection(model: radio, clock: clock, random: random)
    } catch {
      preconditionFailure("the radio was validated by init: \(error)")
    }
  }

  // MARK: Power

  /// Powers the device until `switchOff`.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.behaviour(self) }
      while let connection = await accepted.next() { await serve(connection) }
      group.cancelAll()
    }
  }

  /// Serves a connection. The radio runs longer than the server, because the host detects the end
  /// of the link later.
  private func serve(_ connection: SimulatedConnection) async {
    async let air: Void = connection.run()
    _ = await server.serve(connection.peripheral, clock: clock)
    await air
    state.withLock { $0.connection = nil }
  }

  /// Ends the connection, so that the host detects it, and stops advertising.
  func switchOff() {
    let connection = state.withLock { state in
      state.isOff = true
      return state.connection
    }
    connection?.peripheral.close()
    accepted.finish()
  }
}
