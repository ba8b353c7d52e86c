/// What only a device with Nordic's legacy DFU has to set.
public struct LegacyBootLoaderSettings: Hashable, Sendable {
  /// Whose receiver it is.
  public enum Variant: String, CaseIterable, Sendable {
    /// Nordic's boot loader of SDK 11.
    case sdk11
    /// The DFU service within InfiniTime, a watch's firmware.
    case infinitime
  }

  /// How the boot loader of SDK 11 is entered.
  public enum Entry: String, CaseIterable, Sendable {
    /// By a write to the application's Control Point: the boot loader has the next address.
    case buttonless
    /// By a button that is held: the boot loader runs first, whatever is in flash.
    case button
  }

  public var variant = Variant.sdk11
  public var entry = Entry.buttonless
  /// What an init packet must name; 0xFFFF in it fits every device.
  public var deviceType: UInt16 = 0x0001
  public var deviceRevision: UInt16 = 0x0001
  /// The SoftDevice in flash, as the list in an init packet numbers it.
  public var softDevice: UInt16 = 0x0064
  /// The watch's user has switched updates off: writes are refused with 0x08.
  public var isDisabled = false
  /// The boot loader resets after so long without a request.
  public var inactivity: Duration = .seconds(120)
  /// The application tells its version in a Device Information Service.
  public var hasDeviceInformation = true

  public init() {}
}

extension LegacyBootLoaderSettings: KindSettings {
  static let keys: [KindKey<Self>] = [
    KindKey("variant", "whose receiver it is", \.variant),
    KindKey("entry", "what leads to the boot loader", \.entry),
    KindKey("type", "the device's type", "a number up to 65535", \.deviceType) { halfword($0) },
    KindKey("revision", "the device's revision", "a number up to 65535", \.deviceRevision) {
      halfword($0)
    },
    KindKey("sd", "the SoftDevice that is there", "an id such as 0x64", \.softDevice) {
      halfword($0)
    },
    KindKey("disabled", "updates are switched off", \.isDisabled),
    .inactivity(\.inactivity), .information(\.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key]

  static let faults = FaultName.ofAnyDevice.union([.repeatOffset, .otherImage, .nonsense])

  private static func halfword(_ text: String) -> UInt16? {
    Quantity.word(text).flatMap { UInt16(exactly: $0) }
  }
}
