import OtaflashATT
import OtaflashGATT
import Synchronization

/// The simulated devices in range of one host: a scanner that receives their advertisements, and
/// connections to them over the modeled radio.
///
/// `simulate(near:_:)` and `withAir` create an instance, which is valid only inside their bodies.
public final class SimulatedAir: Central {
  /// The devices in range.
  public let peripherals: [SimulatedPeripheral]
  /// The clock of the simulation.
  public let clock: any LinkClock
  private let random: Mutex<SeededRandom>

  fileprivate init(
    _ peripherals: [SimulatedPeripheral], clock: any LinkClock, random: SeededRandom
  ) {
    self.peripherals = peripherals
    self.clock = clock
    self.random = Mutex(random)
  }

  public func advertisements(
    matching filter: AdvertisementFilter, eachOnce: Bool
  ) -> SimulatedAdvertisements {
    SimulatedAdvertisements(
      peripherals: peripherals, filter: filter, eachOnce: eachOnce, clock: clock,
      random: forkedRandom())
  }

  /// Connects at the device's next advertisement, as the link layer of an initiator does (Core 5.4,
  /// Vol 6, Part B, 4.4.4).
  public func connect(
    to device: Advertisement, within limit: Duration
  ) async throws(ConnectFault) -> any Link {
    let deadline = clock.now.advanced(by: limit)
    guard let peripheral = peripherals.first(where: { $0.advertisement.id == device.id }) else {
      throw Self.notFound(device, within: limit)
    }
    while clock.now < deadline {
      guard await clock.pause(for: peripheral.advertisingInterval) else { throw .cancelled }
      if let link = peripheral.connect(random: forkedRandom()) { return link }
    }
    throw Self.notFound(device, within: limit)
  }

  private static func notFound(_ device: Advertisement, within limit: Duration) -> ConnectFault {
    .deviceNotFound(
      cause: "The simulated device \(device.id) did not advertise within \(limit).",
      remedy: .comeCloser)
  }

  private func forkedRandom() -> SeededRandom {
    random.withLock { SeededRandom(seed: $0.next()) }
  }

  fileprivate func run() async {
    await withDiscardingTaskGroup { group in
      for peripheral in peripherals { group.addTask { await peripheral.run() } }
    }
  }

  fileprivate func switchOff() {
    for peripheral in peripherals { peripheral.switchOff() }
  }
}

/// Powers `peripherals` and passes a scanner for them to `body`; powers them off when `body` ends,
/// successfully or not.
///
/// - Parameters:
///   - peripherals: the devices in range.
///   - clock: the clock of devices and host.
///   - random: the random generator of advertising delays and packet losses.
///   - body: the code of the host.
package func withAir<Value: Sendable, Failure: Error>(
  _ peripherals: [SimulatedPeripheral], clock: any LinkClock,
  random: SeededRandom = SeededRandom(seed: 1),
  _ body: @escaping @Sendable (SimulatedAir) async throws(Failure) -> Value
) async throws(Failure) -> Value {
  let neighbourhood = SimulatedAir(peripherals, clock: clock, random: random)
  return try await withService {
    await neighbourhood.run()
  } stop: {
    neighbourhood.switchOff()
  } _: { () async throws(Failure) -> Value in
    try await body(neighbourhood)
  }
}

/// Runs `body` in range of simulated devices, in virtual time that starts at zero.
///
/// - Parameters:
///   - makePeripherals: each creates one device.
///   - body: the code of the host; receives a central and a clock.
/// - Throws: the errors of the closures, and `SimulationFault`.
public func simulate<Value: Sendable>(
  near makePeripherals: [(VirtualClock) throws -> SimulatedPeripheral],
  _ body: @escaping @Sendable (SimulatedAir, VirtualClock) async throws -> Value
) throws -> Value {
  let timeline = VirtualTimeline()
  let peripherals = try makePeripherals.map { try $0(timeline.clock) }
  let result = try timeline.run { clock -> Result<Value, any Error> in
    await withAir(peripherals, clock: clock) { neighbourhood in
      do { return .success(try await body(neighbourhood, clock)) } catch { return .failure(error) }
    }
  }
  return try result.get()
}
