import OtaflashATT

/// The settings of a device with Telink's OTA service.
public struct TelinkServerSettings: Hashable, Sendable {
  /// The generation of the SDK.
  public enum Variant: String, CaseIterable, Sendable {
    /// An old SDK: data PDUs of 16 bytes, no notifications, and no reports of errors.
    case legacy
    /// An SDK with longer data PDUs and a notified result.
    case extended
  }

  /// The progress that the device notifies.
  public enum Schedule: String, CaseIterable, Sendable {
    /// The device notifies only the result.
    case none
    /// The number of accepted PDUs.
    case pdus
    /// The number of accepted bytes.
    case size
  }

  /// The generation of the SDK.
  public var variant = Variant.extended
  /// The maximum number of image bytes in a PDU, 16…240; a TLSR825x accepts 80.
  public var pduMaximum = 240
  /// Whether the UUIDs have the opposite byte order.
  public var isReversed = false
  /// The time limit from START to END.
  public var totalLimit = Duration.seconds(30)
  /// The time limit from one PDU to the next.
  public var packetLimit = Duration.seconds(5)
  /// The time from an error to the reset, in which the device ignores all PDUs.
  public var errorDelay = Duration.milliseconds(500)
  /// The progress that the device notifies.
  public var schedule = Schedule.none
  /// The number of PDUs per notification of progress.
  public var scheduleInterval = 16
  /// The version of the product, for the version request.
  public var productVersion: UInt16 = 0x0100
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// Creates the settings of a device with an SDK that supports longer PDUs.
  public init() {}

  private init(_ variant: Variant) { self.variant = variant }
}

extension TelinkServerSettings: KindSettings {
  /// The size of a region: up to the boot address 0x40000, without the last page, which contains
  /// other data (252 KiB).
  private static let slotSize = 252 * 1024
  /// The time to write 16 bytes, 130 to 160 µs in Telink's data sheets, for 4 KiB.
  private static let writeTime = Duration.microseconds(145 * 256)

  static let presets = [
    ProfilePreset(
      name: "telink", summary: "an application with Telink's OTA service",
      device: .telinkServer(TelinkServerSettings())
    ) { $0.becomeTelink() },
    ProfilePreset(
      name: "telink-legacy", summary: "an application with an old version of Telink's OTA service",
      device: .telinkServer(TelinkServerSettings(.legacy))
    ) { $0.becomeTelink() },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("variant", "the generation of the SDK", \.variant),
    KindKey("pdu", "the most image bytes in a PDU", "16 to 240, a multiple of 16", \.pduMaximum) {
      Quantity.count($0).flatMap { (1...15).contains($0 / 16) && $0 % 16 == 0 ? $0 : nil }
    },
    KindKey("reversed", "the UUIDs have the opposite byte order", \.isReversed),
    KindKey("total", "the time limit of a transfer", "a time such as 30s", \.totalLimit) {
      Quantity.duration($0)
    },
    KindKey("packet", "the time limit between two PDUs", "a time such as 5s", \.packetLimit) {
      Quantity.duration($0)
    },
    KindKey("error-delay", "the time from an error to the reset", "a time such as 4s", \.errorDelay)
    { Quantity.duration($0) },
    KindKey("schedule", "the notified progress", \.schedule),
    KindKey("schedule-every", "PDUs per notification", "1 or more", \.scheduleInterval) {
      Quantity.count($0)
    },
    KindKey("product", "the product version", "a number up to 65535", \.productVersion) {
      Quantity.word($0).flatMap { UInt16(exactly: $0) }
    },
    KindKey("information", "the application reports its version", \.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .trial, .log]

  static let faults = Fault.ofAnyDevice.union([.otherImage, .nonsense])

  var service: BluetoothUUID { isReversed ? TelinkUUID.reversedService : TelinkUUID.service }
  var dataUUID: BluetoothUUID { isReversed ? TelinkUUID.reversedData : TelinkUUID.data }

  var applicationName: String { "Telink" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try TelinkFirmware(self, of: parts)
  }

  fileprivate static func apply(to board: inout BoardSettings) {
    board.mtu = 247
    board.slotSize = slotSize
    board.writeTimePer4KiB = writeTime
    board.linkDrop = .close
  }
}

extension BoardSettings {
  /// Sets the parameters of a TLSR82xx with 512 KiB of flash.
  fileprivate mutating func becomeTelink() { TelinkServerSettings.apply(to: &self) }
}

extension DeviceKind {
  /// Returns a device with Telink's OTA service.
  public static func telinkServer(_ settings: TelinkServerSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
