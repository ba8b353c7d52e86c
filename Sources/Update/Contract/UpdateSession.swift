import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One update protocol on one connection. The life cycle owns order and recovery; a protocol only
/// implements the steps. A session lives as long as its connection: after a loss, a new session is
/// opened and asks the device for its state.
///
/// Conform a type to it for a custom protocol, and pass the type to `FirmwareUpdate`. A session
/// throws only `UpdateFault`: `.gatt(stage, fault)` for failures of the link or of the attribute
/// protocol, after which the life cycle reconnects if that helps; `.declined` for refusals of the
/// device; `.protocolViolation` for an answer that the protocol forbids. A session neither
/// reconnects nor waits without a limit (`Patience`, `UpdateOptions`).
public protocol UpdateSession: Sendable {
  /// What the protocol retains from one connection of an update to the next.
  associatedtype Retained: RetainedValue = NothingRetained

  /// The name that selects the protocol and that reports use.
  static var updateProtocol: UpdateProtocol { get }

  /// The services of the protocol; a device with any of them speaks it.
  static var services: [BluetoothUUID] { get }

  /// Where a device may be before the update, in search order: not only at its own address if an
  /// earlier run was interrupted while the device was in a bootloader.
  static var places: [DeviceLocation] { get }

  /// Whether this protocol supports the image.
  static func takes(_ image: FirmwareImage) -> Bool

  /// Discovers the protocol's attributes, subscribes, and reads the state of the device.
  ///
  /// - Parameters:
  ///   - client: the GATT client of the connection.
  ///   - context: the options, the clock and the observers of the update.
  ///   - retained: the same object for every connection of an update.
  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<Retained>
  ) async throws(UpdateFault) -> Self

  /// The report of the device.
  var device: DeviceReport { get }

  /// Where the bootloader will be found, in the order to search, for a device that must first be
  /// sent there; empty if the device accepts an image as it is.
  var bootloaderPlaces: [DeviceLocation] { get }

  /// Where the device may be after the activation of the images, in search order: one or more.
  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation]

  /// Compares image and device (mostly by `Preflight.check`). Nothing is written.
  func check(_ image: FirmwareImage) async throws(UpdateFault) -> Preflight

  /// Authenticates with the device's key; called if `device` requires one.
  func authorize(with key: [UInt8]) async throws(UpdateFault)

  /// Sends the device to its bootloader; it ends the connection.
  func detach() async throws(UpdateFault)

  /// Announces the image, and returns the remaining upload.
  ///
  /// - Parameters:
  ///   - plan: the image, and its place among those of this update.
  ///   - restart: the device shall discard the part of an earlier transfer that it holds.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload

  /// Makes the device verify that it holds the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict

  /// Makes the device restart into the sent images, one or more; returns when it has agreed.
  ///
  /// - Parameters:
  ///   - images: the images that the restart activates.
  ///   - current: images of the same update that already run; the restart must not revert them.
  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault)

  /// Whether the session verifies that images which the device already holds are complete.
  var provesHeldImages: Bool { get }

  /// The time in addition to `UpdateOptions.rebootLimit` for the bootloader to start the images.
  func startTime(of images: [FirmwareImage]) -> Duration

  /// Compares the running image with the image of the update.
  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage

  /// Makes an image on trial permanent; called if `running` reports a trial.
  func confirm(_ image: FirmwareImage) async throws(UpdateFault)

  /// Whether the device keeps acknowledged bytes when the connection ends, so that the next one
  /// resumes there. Then the reported resume offset is the acknowledged one. OTA receivers hold the
  /// bytes in flash; SMP servers and Secure DFU bootloaders keep them only while they run. A device
  /// with legacy DFU restarts every transfer.
  var keepsProgress: Bool { get }

  /// Notifies the device that the transfer ends here; the device keeps its resume offset.
  func abandon() async throws(UpdateFault)
}

/// Defaults for steps that most protocols do not need.
extension UpdateSession {
  public static var places: [DeviceLocation] { [.home] }

  public var bootloaderPlaces: [DeviceLocation] { [] }

  public func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation] { [.home] }

  public func authorize(with key: [UInt8]) async throws(UpdateFault) {}

  public func detach() async throws(UpdateFault) {}

  public var provesHeldImages: Bool { true }

  public func startTime(of images: [FirmwareImage]) -> Duration { .zero }

  public func confirm(_ image: FirmwareImage) async throws(UpdateFault) {}

  public var keepsProgress: Bool { true }

  public func abandon() async throws(UpdateFault) {}
}
