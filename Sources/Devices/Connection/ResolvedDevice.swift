import OtaflashBlueZ
import OtaflashGATT
import OtaflashSimulation
import OtaflashState

/// A device found by a selector, with the dialer that reaches it and the name of its records.
package struct ResolvedDevice: Sendable {
  /// The identity at the start of the run: the device's address, socket or profile.
  private let firstIdentity: String
  /// The identity to lock, independent of the way in which the device was selected.
  private let lockIdentity: DeviceIdentity
  package let name: String?
  /// The last location of a device on the air; `nil` for every other device.
  private let location: TrackedAddress?
  package private(set) var dialer: Dialer
  package let clock: any LinkClock
  /// The simulated device, if it runs in this process.
  private var device: SimulatedDevice?
  /// The pairing agent for a device on the air.
  package let pairing: PairingAgent?
  private var tuner: LinkTuner?

  /// The name of the device's records: its address, socket or profile.
  package var identity: String { address ?? firstIdentity }

  /// The device's Bluetooth address, which may change after a restart; `nil` for a device that is
  /// not on the air.
  package var address: String? { location?.address.description }

  private static let connectLimit = Duration.seconds(20)

  /// Finds the device. With -vv, the session logs its connections, and with -vvv also their PDUs;
  /// with --capture, it records the PDUs.
  package static func resolve(
    _ selector: DeviceSelector, in session: Session,
    pairing policy: RadioPairing.Policy = .onDemand, tuning: LinkTuning? = nil,
    isTuningExplicit: Bool = false
  ) async throws(CommandFault) -> ResolvedDevice {
    let tuner = RadioTuning.tuner(tuning, isExplicit: isTuningExplicit, in: session)
    var destination = try await locate(selector, in: session, policy, tuner)
    if let limit = session.global.transactionLimit {
      destination.dialer = destination.dialer.answering(within: limit.duration)
    }
    destination.dialer = ConnectionLog(console: session.console).watching(
      destination.dialer, on: destination.clock)
    if let capture = try session.capture?.file() {
      destination.dialer = capture.recording(
        destination.dialer, to: destination.capturedPeer, on: destination.clock)
    }
    return destination
  }

  private static func locate(
    _ selector: DeviceSelector, in session: Session, _ policy: RadioPairing.Policy,
    _ tuner: LinkTuner
  ) async throws(CommandFault) -> ResolvedDevice {
    let limit = session.global.timeout?.duration ?? connectLimit
    switch selector.kind {
    case .address(let address):
      guard session.global.simulatedAir == nil else {
        throw .usage(
          message: "--adapter sim has no '\(selector.text)'; its devices start with sim:",
          command: "scan")
      }
      return radio(address, matching: nil, name: nil, in: session, within: limit, policy, tuner)
    case .name(let pattern):
      let found = try await find(pattern, within: limit, in: session)
      if let address = found.address {
        return radio(
          address, matching: pattern, name: found.name, in: session, within: limit, policy, tuner)
      }
      let simulated: DeviceSelector
      do { simulated = try DeviceSelector.parse(found.id) } catch {
        preconditionFailure("invalid device of the simulated adapter: \(error)")
      }
      return try await locate(simulated, in: session, policy, tuner)
    case .unix(let path):
      let dialer = Dialer { () async throws(ConnectFault) -> any Link in
        try await UnixLink.connect(path: path, within: limit)
      }
      return ResolvedDevice(
        firstIdentity: selector.id,
        lockIdentity: DeviceIdentity(path: path, device: selector.id),
        name: nil, location: nil, dialer: dialer, clock: EventLoopClock(), device: nil, pairing: nil
      )
    case .simulated(let profile):
      let (device, path) = try SimulatedDevice.persistent(selector.id, profile, in: session)
      return ResolvedDevice(
        firstIdentity: selector.id,
        lockIdentity: DeviceIdentity(path: path, device: selector.id),
        name: nil, location: nil, dialer: device.dialer, clock: EventLoopClock(), device: device,
        pairing: nil)
    case .last, .alias: preconditionFailure("a run resolves its device before the start")
    }
  }

  /// Returns a simulated device whose state ends with this process.
  package static func transient(
    _ text: String, _ profile: SimulationProfile, capture: CaptureFile?
  ) throws(CommandFault) -> ResolvedDevice {
    let device = try SimulatedDevice(profile, storage: nil)
    let clock = EventLoopClock()
    let recorded = capture?.recording(
      device.dialer, to: CapturedPeer(standingFor: text), on: clock)
    return ResolvedDevice(
      firstIdentity: text, lockIdentity: DeviceIdentity(path: text, device: text), name: nil,
      location: nil, dialer: recorded ?? device.dialer, clock: clock, device: device, pairing: nil)
  }

  /// Excludes every other process from the device until the lock is released.
  package func lock() throws(CommandFault) -> DeviceLock {
    do throws(StateFault) { return try DeviceLock(lockIdentity) } catch { throw .state(error) }
  }

  /// Runs `body` while the device can be dialed and paired with.
  package func withDevice<Success: Sendable>(
    _ body: @escaping @Sendable () async -> Success
  ) async -> Success {
    await withTaskExecutorPreference(EventLoop.shared) {
      if let device { return await device.run(while: body) }
      guard let pairing, let tuner else { return await body() }
      return await tuner.serve { await pairing.serve(while: body) }
    }
  }

  /// Runs several operations on a device that is powered and served for all of them.
  package func serving<Value: Sendable, Failure: Error>(
    _ body: @escaping @Sendable (ResolvedDevice) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let served = alreadyServed
    let result = await withDevice { () async -> Result<Value, Failure> in
      do throws(Failure) { return .success(try await body(served)) } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// The same device for the body of `withDevice`: its own `withDevice` only runs the body.
  private var alreadyServed: ResolvedDevice {
    var served = self
    (served.device, served.tuner) = (nil, nil)
    return served
  }

  private static func radio(
    _ address: BluetoothAddress, matching pattern: NamePattern?, name: String?,
    in session: Session, within limit: Duration, _ policy: RadioPairing.Policy, _ tuner: LinkTuner
  ) -> ResolvedDevice {
    let pairing = RadioPairing.agent(policy, in: session)
    let console = session.console
    let location = TrackedAddress(address, matching: pattern) { former, new in
      console.note("  the device has a new address: \(new) (it was \(former))")
      console.event("link", ["event": .string("moved"), "address": .string("\(new)")])
    }
    return ResolvedDevice(
      firstIdentity: address.description,
      lockIdentity: DeviceIdentity(address),
      name: name, location: location,
      dialer: BluetoothAir.dialer(
        to: location, adapter: session.global.adapterNumber, within: limit, pairing: pairing,
        tuner: tuner),
      clock: EventLoopClock(), device: nil, pairing: pairing, tuner: tuner)
  }

  /// Returns the address of a device that is selected by its address or its name.
  package static func address(
    of selector: DeviceSelector, in session: Session
  ) async throws(CommandFault) -> BluetoothAddress {
    if case .address(let address) = selector.kind { return address }
    if case .name(let pattern) = selector.kind {
      let limit = session.global.timeout?.duration ?? connectLimit
      if let address = try await find(pattern, within: limit, in: session).address {
        return address
      }
    }
    throw .usage(message: "'\(selector.text)' has no address", command: "unpair")
  }

  /// Returns the only device whose name matches. If no device or several devices match, throws an
  /// error.
  private static func find(
    _ pattern: NamePattern, within limit: Duration, in session: Session
  ) async throws(CommandFault) -> ScanResult {
    session.console.note("looking for a device with a name like '\(pattern.text)'")
    let found = try await Air(session.global).survey(
      ScanFilter(name: pattern), for: limit, found: { _ in })
    guard let first = found.first else { throw .noMatch(pattern: pattern.text, waited: limit) }
    guard found.count == 1 else {
      throw .ambiguous(
        pattern: pattern.text, matches: found.map { "\($0.id) (\($0.name ?? "no name"))" })
    }
    return first
  }
}
