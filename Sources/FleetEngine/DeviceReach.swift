import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// The radios that a workshop has, and the devices that they reach: the kernel's adapters, or
/// simulated boards in virtual time. The engine knows no difference.
package protocol DeviceReach: Sendable {
  /// The adapters that are there now, by their names.
  func adapters() -> [String]

  /// Which of them hear a device. A reach that does not listen names all of them.
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
package struct DeviceHeldElsewhere: Error {
  package init() {}
}

/// What the engine may ask of the world beside the radio: time, and files that were read.
package struct FleetSurroundings: Sendable {
  /// Waits; the links' own.
  package let clock: any LinkClock
  /// The wall's time, for what is recorded.
  package let wall: @Sendable () -> FleetTime
  /// The image with a digest.
  package let image: @Sendable (String) -> FirmwarePackage?
  /// The key of a device that has one.
  package let key: @Sendable (FleetDevice.ID) -> [UInt8]?
  /// Where patches find what devices run; each patch is made once for all of them.
  package let bases: BaseFinder
  /// Runs the campaign's hooks; without it a hook cannot be run.
  package let hooks: (any HookRunner)?
  /// Told what happens on a device, from its own task; must return soon.
  package let observe: @Sendable (FleetDevice.ID, UpdateEvent) -> Void
  /// Told what happens to this machine; must return soon.
  package let notice: @Sendable (FleetNotice) -> Void

  package init(
    clock: any LinkClock, wall: @escaping @Sendable () -> FleetTime,
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
