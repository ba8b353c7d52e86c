import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// The radios that a worker pool has, and the devices that they reach: the kernel's adapters, or
/// simulated boards in virtual time. The engine knows no difference.
public protocol DeviceTransport: Sendable {
  /// The adapters that are there now, by their names.
  func adapters() -> [String]

  /// Which of them hear a device. A transport that does not listen names all of them.
  func hearing(of device: FleetDevice.ID) -> [AdapterHearing]

  /// Makes a connection; one at a time an adapter is asked for.
  func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link

  /// Runs `body` while this process has the device for itself.
  ///
  /// - Throws: `.deviceBusy` as a reason when another one has it.
  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value
}

/// Another process works on the device.
public struct DeviceHeldElsewhere: Error {
  public init() {}
}

/// What the engine may ask of the world beside the radio: time, and files that were read.
public struct FleetEnvironment: Sendable {
  /// Waits; the links' own.
  public let clock: any LinkClock
  /// The wall's time, for what is recorded.
  public let wall: @Sendable () -> WallClockTime
  /// The image with a digest.
  public let image: @Sendable (String) -> FirmwarePackage?
  /// The key of a device that has one.
  public let key: @Sendable (FleetDevice.ID) -> [UInt8]?
  /// Where patches find what devices run; each patch is made once for all of them.
  public let bases: BaseFinder
  /// Runs the campaign's hooks; without it a hook cannot be run.
  public let hooks: (any HookRunner)?
  /// Told what happens on a device, from its own task; must return soon.
  public let observe: @Sendable (FleetDevice.ID, UpdateEvent) -> Void
  /// Told what happens to this machine; must return soon.
  public let notice: @Sendable (FleetNotice) -> Void

  public init(
    clock: any LinkClock, wall: @escaping @Sendable () -> WallClockTime,
    image: @escaping @Sendable (String) -> FirmwarePackage?,
    key: @escaping @Sendable (FleetDevice.ID) -> [UInt8]? = { _ in nil },
    bases: BaseFinder = .none, hooks: (any HookRunner)? = nil,
    observe: @escaping @Sendable (FleetDevice.ID, UpdateEvent) -> Void = { _, _ in },
    notice: @escaping @Sendable (FleetNotice) -> Void = { _ in }
  ) {
    self.clock = clock
    self.wall = wall
    self.image = image
    self.key = key
    self.bases = bases
    self.hooks = hooks
    self.observe = observe
    self.notice = notice
  }
}
