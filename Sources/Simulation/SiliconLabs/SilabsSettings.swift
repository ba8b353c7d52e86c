import OtaflashATT

/// The settings of a device with the OTA of Silicon Labs.
public struct SilabsSettings: Hashable, Sendable {
  /// The program that receives the image.
  public enum Receiver: String, CaseIterable, Sendable {
    /// The AppLoader, which overwrites the application.
    case loader
    /// The application, which stores the image in a second slot.
    case application
  }

  /// The program that runs first.
  public enum Start: String, CaseIterable, Sendable {
    /// The application.
    case application
    /// The loader, because an earlier transfer was interrupted: there is no application.
    case loader
  }

  /// The service that contains the characteristics of the loader.
  public enum Service: String, CaseIterable, Sendable {
    /// The UUID of the SDK.
    case standard
    /// Another UUID.
    case other
  }

  /// The program that receives the image.
  public var receiver = Receiver.loader
  /// The program that runs first; only with a loader.
  public var start = Start.application
  /// The service of the loader.
  public var loaderService = Service.standard
  /// Whether the loader has the characteristics with its versions.
  public var hasVersions = true
  /// The maximum number of data writes that wait for the flash; the device drops further commands.
  public var buffer = 32
  /// The time after a connection in which the loader refuses the start of a transfer.
  public var readyTime = Duration.milliseconds(200)
  /// The time without a write after which the loader resets; `nil` = never.
  public var inactivity: Duration?
  /// Whether the device accepts only signed files. The simulation does not verify the signature.
  public var requiresSignature = false
  /// Whether the application refuses to start the loader, as if it required a bond with the host.
  public var requiresBond = false
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// Creates the settings of an application with an AppLoader.
  public init() {}

  init(_ receiver: Receiver) { self.receiver = receiver }
}

extension SilabsSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "silabs", summary: "an application and Silicon Labs' AppLoader, which overwrites it",
      device: .silabs(SilabsSettings()), apply: limits),
    ProfilePreset(
      name: "silabs-app-ota",
      summary: "an application that stores a GBL file for Silicon Labs' bootloader",
      device: .silabs(SilabsSettings(.application)), apply: limits),
  ]

  private static let limits: @Sendable (inout BoardSettings) -> Void = {
    $0.mtu = 247
    $0.linkDrop = .close
  }

  static let keys: [KindKey<Self>] = [
    KindKey("receiver", "the program that receives the image", \.receiver),
    KindKey("start", "the program that runs first", \.start),
    KindKey("service", "the UUID of the loader's service", \.loaderService),
    KindKey("versions", "the loader reports its versions", \.hasVersions),
    KindKey(
      "buffer", "the data writes that wait for the flash", "a count, 1 to 1000", \.buffer
    ) { Quantity.count($0).flatMap { (1...1000).contains($0) ? $0 : nil } },
    KindKey(
      "ready", "the time after a connection in which a start is refused", "a time such as 200ms",
      \.readyTime
    ) { Quantity.duration($0) },
    KindKey(
      "inactivity", "the time without a write after which the loader resets",
      "a time such as 10s", \.inactivity
    ) { Quantity.duration($0).map(Optional.some) },
    KindKey("signed", "only signed files are accepted", \.requiresSignature),
    KindKey("bond", "the application requires a bond", \.requiresBond),
    KindKey("information", "the application reports its version", \.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .log, .trial, .address]

  static let faults = Fault.ofAnyDevice.union([.otherImage])

  var service: BluetoothUUID { SilabsUUID.service }

  var applicationName: String { "Silabs App" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try SilabsFirmware(self, of: parts)
  }
}

extension DeviceKind {
  /// Returns a device with the OTA of Silicon Labs.
  public static func silabs(_ settings: SilabsSettings) -> DeviceKind { DeviceKind(settings) }
}
