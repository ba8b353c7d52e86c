#if Fleet
import Glibc
import OtaflashBlueZ
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import OtaflashState
import Synchronization

/// Connects to the devices of a campaign: over adapters, over sockets, or to simulated devices in
/// this process. Devices without a radio have the adapter `unix` or `sim`.
package final class AdapterTransport: DeviceTransport {
  /// A device that this process has locked.
  private enum Held: Sendable {
    case simulated(SimulatedDevice)
    /// The device is outside of this process: it is reached over an adapter or a socket.
    case elsewhere
    /// The device cannot be used, with the reason.
    case broken(ConnectFault)
  }

  private static let connectLimit = Duration.seconds(20)

  /// The kinds of the devices of the campaign; empty if the devices are not known in advance.
  private let kinds: [FleetDevice.ID: DeviceSelector.Kind]
  private let radios: FleetRadios?
  private let session: Session
  private let held = Mutex<[FleetDevice.ID: Held]>([:])
  private let doors: [String]

  /// - Parameters:
  ///   - devices: texts that `DeviceSelector` accepts.
  ///   - adapters: the numbers of the adapters to use; `nil` = all adapters that are on.
  package init(_ devices: [FleetDevice.ID], on adapters: Set<UInt16>?, in session: Session) {
    var kinds: [FleetDevice.ID: DeviceSelector.Kind] = [:]
    for device in devices {
      do { kinds[device] = try DeviceSelector.parse(device).kind } catch {
        preconditionFailure("the campaign was checked: \(error)")
      }
    }
    self.kinds = kinds
    self.session = session
    radios = kinds.values.contains { $0.isRadio } ? FleetRadios(session, only: adapters) : nil
    doors = Set(kinds.values.compactMap(\.door)).sorted()
  }

  /// Creates a transport for any device that a job names.
  ///
  /// - Parameter usesRadios: whether an adapter is on; otherwise only devices without a radio can
  ///   be updated.
  package init(
    forAnyDeviceOn adapters: Set<UInt16>?, usesRadios: Bool, in session: Session
  ) {
    kinds = [:]
    self.session = session
    radios = usesRadios ? FleetRadios(session, only: adapters) : nil
    doors = ["sim", "unix"]
  }

  /// Returns the kind of a device; `nil` = its id is not one that `DeviceSelector` accepts.
  private func kind(of device: FleetDevice.ID) -> DeviceSelector.Kind? {
    if let kind = kinds[device] { return kind }
    do { return try DeviceSelector.parse(device).kind } catch { return nil }
  }

  /// Checks that there is an adapter if the devices require one.
  package func check() async throws(CommandFault) { try await radios?.present() }

  /// Uses the adapters while `body` runs.
  ///
  /// - Throws: if devices require an adapter and no adapter is available.
  package func serve<Success: Sendable>(
    while body: @escaping @Sendable () async -> Success
  ) async throws(CommandFault) -> Success {
    guard let radios else { return await body() }
    return try await radios.serve(while: body)
  }

  package func adapters() -> [String] { (radios?.names ?? []) + doors }

  package func hearing(of device: FleetDevice.ID) -> [AdapterHearing] {
    switch kind(of: device) {
    case .address(let address): radios?.hearing(of: address) ?? []
    case let kind: kind?.door.map { [AdapterHearing(adapter: $0)] } ?? []
    }
  }

  package func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    let limit = session.global.timeout?.duration ?? Self.connectLimit
    switch (held.withLock { $0[device] }, kind(of: device)) {
    case (.broken(let fault), _): throw fault
    case (.simulated(let board), _): return try await board.dial(at: place)
    case (_, .address(let address)):
      guard let radios else {
        throw .adapterUnavailable(cause: "No adapter is on.", remedy: .plugInAdapter)
      }
      return try await radios.connect(
        to: address, at: place, on: adapter, within: limit)
    case (_, .unix(let path)): return try await UnixLink.connect(path: path, within: limit)
    case (_, .simulated), (_, .name), (_, .last), (_, .alias), (_, nil):
      throw .deviceNotFound(
        cause: "'\(device)' is not locked.", remedy: .advice("Run the same command again."))
    }
  }

  // MARK: Locking a device

  package func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value {
    let (holding, identity) = try hold(device)
    let lock: DeviceLock
    do throws(StateFault) { lock = try DeviceLock(identity) } catch {
      guard case .deviceBusy = error else {
        return await working(on: device, as: .broken(Self.fault("\(error)")), body)
      }
      throw DeviceHeldElsewhere()
    }
    let value = await working(on: device, as: holding, body)
    lock.release()
    return value
  }

  private func working<Value: Sendable>(
    on device: FleetDevice.ID, as holding: Held, _ body: @Sendable () async -> Value
  ) async -> Value {
    held.withLock { $0[device] = holding }
    defer { held.withLock { $0[device] = nil } }
    guard case .simulated(let board) = holding else { return await body() }
    return await withoutActuallyEscaping(body) { body in await board.run(while: body) }
  }

  private func hold(
    _ device: FleetDevice.ID
  ) throws(DeviceHeldElsewhere) -> (Held, DeviceIdentity) {
    switch kind(of: device) {
    case .address(let address): return (.elsewhere, DeviceIdentity(address))
    case .unix(let path): return (.elsewhere, DeviceIdentity(path: path, device: device))
    case .simulated(let profile):
      do throws(CommandFault) {
        let (board, path) = try SimulatedDevice.persistent(device, profile, in: session)
        return (.simulated(board), DeviceIdentity(path: path, device: device))
      } catch {
        if case .simulation(_, EWOULDBLOCK?) = error { throw DeviceHeldElsewhere() }
        let report = session.context.report(error)
        return (.broken(Self.fault(report.what)), DeviceIdentity(path: device, device: device))
      }
    case .name, .last, .alias, nil:
      return (
        .broken(Self.fault("The device is unknown.")), DeviceIdentity(path: device, device: device)
      )
    }
  }

  /// Returns the fault of a device that the host cannot use.
  private static func fault(_ cause: String) -> ConnectFault {
    .systemCall(
      name: "open", errno: EIO, cause: cause, remedy: .advice("Check the state directory."))
  }
}

extension DeviceSelector.Kind {
  fileprivate var isRadio: Bool { if case .address = self { true } else { false } }

  /// The name of the adapter of a device without a radio.
  fileprivate var door: String? {
    switch self {
    case .unix: "unix"
    case .simulated: "sim"
    case .address, .name, .last, .alias: nil
    }
  }
}
#endif
