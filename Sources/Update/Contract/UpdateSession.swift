import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// One update protocol on one connection. The life cycle owns order and recovery; a protocol only
/// fills in the steps. A session lives as long as its connection: after a loss a new one is opened
/// and asks the device where it stands.
///
/// Conform a type to it for a protocol of your own, and give it to `FirmwareUpdate`. A session
/// throws `UpdateFault` alone: `.gatt(stage, fault)` for what the link or the attribute protocol
/// failed with, which the life cycle mends by a new connection where that helps; `.declined` for
/// what the device refuses; `.protocolViolation` for an answer that the protocol forbids. It
/// neither reconnects nor waits without a bound (`Patience`, `UpdateOptions`).
public protocol UpdateSession: Sendable {
  /// What the protocol retains from one connection of an update to the next.
  associatedtype Retained: RetainedValue = NothingRetained

  /// The name under which it is chosen and told of.
  static var updateProtocol: UpdateProtocol { get }

  /// The services any of which tells that a device speaks this protocol.
  static var services: [BluetoothUUID] { get }

  /// Where a device may be before anything is done to it, in the order to look: elsewhere than at
  /// home where an earlier run was broken off in a bootloader.
  static var places: [DeviceLocation] { get }

  /// Whether this protocol can carry the image at all.
  static func takes(_ image: FirmwareImage) -> Bool

  /// Finds the protocol's attributes, subscribes, and asks the device about itself.
  ///
  /// - Parameter retained: the same object for every connection of an update.
  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<Retained>
  ) async throws(UpdateFault) -> Self

  /// What the device has said of itself.
  var device: DeviceReport { get }

  /// Where the bootloader will be found, in the order to search, for a device that must first be
  /// sent there; empty if the device accepts an image as it is.
  var bootloaderPlaces: [DeviceLocation] { get }

  /// Where the device may be after the images were activated, in the order to look: one or more.
  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation]

  /// Compares image and device (`Preflight.check` does most of it). Nothing is written.
  func check(_ image: FirmwareImage) async throws(UpdateFault) -> Preflight

  /// Proves to have the device's key; called where `device` says that one is needed.
  func authorize(with key: [UInt8]) async throws(UpdateFault)

  /// Sends the device to its bootloader; it ends the connection.
  func detach() async throws(UpdateFault)

  /// Announces the image, and returns what is left to be sent.
  ///
  /// - Parameters:
  ///   - plan: the image, and its place among those of this update.
  ///   - restart: the device shall drop what it holds of an earlier transfer.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload

  /// Lets the device prove that what it holds is the image.
  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict

  /// Makes the device restart into the images that were sent, one or more; returns when it has
  /// agreed.
  ///
  /// - Parameters:
  ///   - images: those that the restart is to make run.
  ///   - current: images of the same update that were found running; the restart must not take
  ///     them back.
  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault)

  /// Whether an image that the device is found to hold is known to be whole.
  var provesHeldImages: Bool { get }

  /// How much longer than `UpdateOptions.rebootLimit` the bootloader may take to start the images.
  func startTime(of images: [FirmwareImage]) -> Duration

  /// What runs now, compared with the image.
  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage

  /// Makes an image on trial permanent; called where `running` says that it is on trial.
  func confirm(_ image: FirmwareImage) async throws(UpdateFault)

  /// Whether the device keeps what it has acknowledged when the connection ends, so that the next
  /// one goes on there. Where it does, what is said of a resume point is its acknowledged bytes:
  /// OTA receivers have them in flash, SMP servers and Secure DFU bootloaders while they run. A
  /// device of legacy DFU begins every transfer anew.
  var keepsProgress: Bool { get }

  /// Tells the device that the transfer ends here; what the protocol keeps is kept for a resume.
  func abandon() async throws(UpdateFault)
}

/// What most protocols have no use for.
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
