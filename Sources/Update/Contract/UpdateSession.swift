import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One update protocol on one connection. The life cycle is responsible for order and recovery; a
/// protocol only implements the steps. A session lives as long as its connection. After a loss, the
/// life cycle opens a new session, which reads the state of the device.
///
/// To add a custom protocol, conform a type to `UpdateSession`, and pass the type to
/// `FirmwareUpdate`. A session throws only `UpdateFault`. It throws `.gatt(stage, fault)` for
/// failures of the link or of the attribute protocol; the life cycle then reconnects if a new
/// connection may fix the failure. The session throws `.declined` for refusals of the device, and
/// `.protocolViolation` for an answer that the protocol forbids. A session never reconnects, and
/// all its waits have limits (`Patience`, `UpdateOptions`).
public protocol UpdateSession: Sendable {
  /// The state that the protocol retains from one connection of an update to the next.
  associatedtype Retained: RetainedValue = NothingRetained

  /// The protocol's name, for selection and reports.
  static var updateProtocol: UpdateProtocol { get }

  /// The services of the protocol; a device with any of them supports the protocol.
  static var services: [BluetoothUUID] { get }

  /// Returns whether a connected device offers the protocol, for a protocol whose services do not
  /// identify it uniquely. By default, a device offers the protocol if it has any of `services`.
  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool

  /// The possible locations of a device before the update, in search order. They include the
  /// locations of a bootloader, because an earlier run may have been interrupted there.
  static var places: [DeviceLocation] { get }

  /// The protocols to which a session may leave the update of a device that also offers one of
  /// them; empty = none, so that the user must choose a protocol.
  static var alternatives: [UpdateProtocol] { get }

  /// Returns whether this protocol supports the image.
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

  /// The locations of the bootloader, in search order, for a device that must first restart into
  /// its bootloader; empty if the device accepts an image without this restart.
  var bootloaderPlaces: [DeviceLocation] { get }

  /// Returns the possible locations of the device after the activation of the images, one or more,
  /// in search order.
  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation]

  /// Decides whether this session updates the device, or leaves the update to one of
  /// `alternatives`; called on the first connection to a device that offers both. Nothing is
  /// written.
  ///
  /// - Parameter images: the images to send together; empty for an inspection without an image.
  func preference(for images: [FirmwareImage]) async throws(UpdateFault) -> ProtocolPreference

  /// Compares image and device (mostly by `Preflight.check`). Nothing is written.
  func check(_ image: FirmwareImage) async throws(UpdateFault) -> Preflight

  /// Authenticates with the device's key; called if `device` requires a key.
  func authorize(with key: [UInt8]) async throws(UpdateFault)

  /// Makes the device restart into its bootloader, which ends the connection.
  func detach() async throws(UpdateFault)

  /// Announces the image, and returns the remaining upload.
  ///
  /// - Parameters:
  ///   - plan: the image, and the values to announce.
  ///   - restart: whether the device must discard the part of an earlier transfer that it holds.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload

  /// Makes the device verify that it holds the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict

  /// Makes the device restart into the sent images, one or more. Returns when the device has
  /// agreed.
  ///
  /// - Parameters:
  ///   - images: the images that the restart activates.
  ///   - current: images of the same update that already run; the restart must not revert them.
  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault)

  /// Whether the session verifies the completeness of images that the device already holds.
  var provesHeldImages: Bool { get }

  /// Returns the time that the bootloader needs to start the images, in addition to
  /// `UpdateOptions.rebootLimit`.
  func startTime(of images: [FirmwareImage]) -> Duration

  /// Returns the time from the activation after which a device that does not advertise counts as
  /// restarted, without evidence; `nil` = the device must advertise again. Only a protocol for
  /// devices whose programs may not use Bluetooth returns a time.
  func silentRestartLimit(of images: [FirmwareImage]) -> Duration?

  /// Compares the running image with the image of the update.
  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage

  /// Makes an image on trial permanent; called if `running` reports a trial.
  func confirm(_ image: FirmwareImage) async throws(UpdateFault)

  /// Whether the device keeps acknowledged bytes when the connection ends, so that the next
  /// connection can resume the transfer. OTA receivers hold the bytes in flash. SMP servers and
  /// Secure DFU bootloaders keep the bytes only until a restart. With the other protocols, a later
  /// run restarts the transfer at the first byte.
  var keepsProgress: Bool { get }

  /// Notifies the device that the transfer ends here. The device keeps its resume offset if
  /// `keepsProgress` is set.
  func abandon() async throws(UpdateFault)
}

/// Defaults for steps that most protocols do not need.
extension UpdateSession {
  public static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await client.services().contains { services.contains($0.uuid) }
  }

  public static var places: [DeviceLocation] { [.home] }

  public static var alternatives: [UpdateProtocol] { [] }

  public func preference(
    for images: [FirmwareImage]
  ) async throws(UpdateFault) -> ProtocolPreference { .keep }

  public var bootloaderPlaces: [DeviceLocation] { [] }

  public func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation] { [.home] }

  public func authorize(with key: [UInt8]) async throws(UpdateFault) {}

  public func detach() async throws(UpdateFault) {}

  public var provesHeldImages: Bool { true }

  public func startTime(of images: [FirmwareImage]) -> Duration { .zero }

  public func silentRestartLimit(of images: [FirmwareImage]) -> Duration? { nil }

  public func confirm(_ image: FirmwareImage) async throws(UpdateFault) {}

  public var keepsProgress: Bool { true }

  public func abandon() async throws(UpdateFault) {}
}
