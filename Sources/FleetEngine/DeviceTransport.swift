import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashGATT
import OtaflashUpdate

/// The adapters of a worker pool and the devices in their range: the kernel's adapters, or
/// simulated boards in virtual time.
public protocol DeviceTransport: Sendable {
  /// Returns the names of the present adapters.
  func adapters() -> [String]

  /// Returns the adapters that may be in range of a device, with the RSSI if it is known. A
  /// transport that does not know which adapters are in range returns all adapters.
  func hearing(of device: FleetDevice.ID) -> [AdapterHearing]

  /// Connects to a device. The engine requests one connection at a time on an adapter.
  func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link

  /// Runs `body` while this process has exclusive use of the device.
  ///
  /// - Throws: a fault if another process uses the device.
  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value
}

/// The error of a device that another process uses.
public struct DeviceHeldElsewhere: Error {
  /// Creates the error.
  public init() {}
}

/// The reason why an image cannot be obtained now.
package struct ImageUnavailable: Error {
  package let words: String

  package init(words: String) { self.words = words }
}

/// The environment of the engine except adapters: the clocks, images, keys and observers.
public struct FleetEnvironment: Sendable {
  /// The clock for waits, shared with the links.
  public let clock: any LinkClock
  /// Returns the wall-clock time, for records and transfer windows.
  public let wall: @Sendable () -> WallClockTime
  /// Returns the time since a fixed moment, for claims. The time must also advance while the
  /// machine is suspended, as CLOCK_BOOTTIME of Linux does: a process that was suspended must not
  /// continue to write.
  public let elapsed: @Sendable () -> Duration
  /// Returns the image with a digest; `nil` = this host does not have the image.
  public let image: @Sendable (String) -> FirmwarePackage?
  /// Returns the image with a digest, which is obtained first if it is not on this host; `nil` =
  /// `image` has all images.
  package var fetchImage: (@Sendable (String) async throws(ImageUnavailable) -> FirmwarePackage)?
  /// Returns the key of a device; `nil` = the device has no key.
  public let key: @Sendable (FleetDevice.ID) -> [UInt8]?
  /// Opens the sealed key of a job; `nil` = the key is not sealed for this worker.
  package var unseal: @Sendable (SealedKey, UpdateJob.ID) -> [UInt8]? = { _, _ in nil }
  /// The source of base images for patches; each patch is created once for all devices.
  public let bases: BaseFinder
  /// The runner of the campaign's hooks; `nil` = hooks cannot be run.
  public let hooks: (any HookRunner)?
  /// A callback for the update events of a device. It is called in the task of the device, and must
  /// return soon.
  public let observe: @Sendable (FleetDevice.ID, UpdateEvent) -> Void
  /// A callback for notices about the host, which must return soon.
  public let notice: @Sendable (FleetNotice) -> Void

  /// Creates an environment without keys, base images, hooks and observers by default; `elapsed`
  /// is the time of `clock` by default.
  public init(
    clock: any LinkClock, wall: @escaping @Sendable () -> WallClockTime,
    elapsed: (@Sendable () -> Duration)? = nil,
    image: @escaping @Sendable (String) -> FirmwarePackage?,
    key: @escaping @Sendable (FleetDevice.ID) -> [UInt8]? = { _ in nil },
    bases: BaseFinder = .none, hooks: (any HookRunner)? = nil,
    observe: @escaping @Sendable (FleetDevice.ID, UpdateEvent) -> Void = { _, _ in },
    notice: @escaping @Sendable (FleetNotice) -> Void = { _ in }
  ) {
    self.clock = clock
    self.wall = wall
    self.elapsed = elapsed ?? { clock.now.elapsed }
    self.image = image
    self.key = key
    self.bases = bases
    self.hooks = hooks
    self.observe = observe
    self.notice = notice
  }
}
