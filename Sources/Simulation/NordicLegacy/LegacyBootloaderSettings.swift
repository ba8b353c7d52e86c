import OtaflashATT

/// What only a device with Nordic's legacy DFU has to set.
public struct LegacyBootloaderSettings: Hashable, Sendable {
  /// Whose receiver it is.
  public enum Variant: String, CaseIterable, Sendable {
    /// Nordic's bootloader of SDK 11.
    case sdk11
    /// Adafruit's, which was made of it: larger packets, more buffers, a longer wait.
    case adafruit
    /// The DFU service within InfiniTime, a watch's firmware.
    case infinitime
  }

  /// How the bootloader of SDK 11 is entered.
  public enum Entry: String, CaseIterable, Sendable {
    /// By a write to the application's Control Point: the bootloader has the next address.
    case buttonless
    /// By a button that is held: the bootloader runs first, whatever is in flash.
    case button
  }

  /// Where a bootloader receives an application.
  public enum Banks: String, CaseIterable, Sendable {
    /// Over the one that runs, which is gone as soon as a transfer has begun.
    case single
    /// Beside it.
    case dual
  }

  /// The buffers that data packets wait in for the flash.
  public struct Pool: Hashable, Sendable {
    /// Packets that the pool has room for.
    public var packets: Int
    /// The longest packet, in bytes.
    public var bytes: Int

    /// A pool of so many packets and bytes.
    public init(packets: Int, bytes: Int) {
      self.packets = packets
      self.bytes = bytes
    }
  }

  /// Whose bootloader it is.
  public var variant = Variant.sdk11
  /// How the application is made to start it.
  public var entry = Entry.buttonless
  /// How many images its flash has room for.
  public var banks = Banks.single
  /// `nil` = as the variant has it: 8 of 32 bytes, or Adafruit's 16 of 600.
  public var pool: Pool?
  /// What an init packet must name; 0xFFFF in it fits every device.
  public var deviceType: UInt16 = 0x0001
  /// The revision that init packets must name.
  public var deviceRevision: UInt16 = 0x0001
  /// The SoftDevice in flash, as the list in an init packet numbers it.
  public var softDevice: UInt16 = 0x0064
  /// The watch's user has switched updates off: writes are refused with 0x08.
  public var isDisabled = false
  /// The bootloader resets after so long without sizes, init packet, data or a validation; `nil` =
  /// as the variant has it: 120 s, or Adafruit's 360 s.
  public var inactivity: Duration?
  /// The application tells its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// Nordic's bootloader of SDK 11, with the defaults above.
  public init() {}

  var packetPool: Pool {
    pool ?? (variant == .adafruit ? Pool(packets: 16, bytes: 600) : Pool(packets: 8, bytes: 32))
  }

  var silenceLimit: Duration {
    inactivity ?? (variant == .adafruit ? .seconds(360) : .seconds(120))
  }

  /// The largest ATT_MTU that the SoftDevice knows.
  var mtuMaximum: Int { variant == .sdk11 ? 23 : 247 }
}

extension LegacyBootloaderSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "nordic-legacy",
      summary: "an application and Nordic's legacy bootloader of SDK 11, or Adafruit's",
      device: .legacyBootloader(LegacyBootloaderSettings())
    ) { $0.becomeNordic() },
    ProfilePreset(
      name: "infinitime", summary: "a watch that takes Nordic's legacy DFU in its application",
      device: .legacyBootloader(LegacyBootloaderSettings(.infinitime))
    ) { $0.becomeNordic() },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("variant", "whose receiver it is", \.variant),
    KindKey("entry", "what leads to the bootloader", \.entry),
    KindKey("banks", "where an application is received", \.banks),
    KindKey("pool", "buffers for packets, and bytes of each", "such as 8x32 or 16x600", \.pool) {
      pool($0).map(Optional.some)
    },
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

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .address]

  static let faults = Fault.ofAnyDevice.union([.repeatOffset, .otherImage, .nonsense])

  var service: BluetoothUUID { LegacyUUID.service }

  var applicationName: String {
    switch variant {
    case .sdk11: "Nordic_App"
    case .adafruit: "Bluefruit52"
    case .infinitime: "InfiniTime"
    }
  }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try LegacyFirmware(self, of: parts)
  }

  private init(_ variant: Variant) { self.variant = variant }

  private static func pool(_ text: String) -> Pool? {
    let numbers = text.split(separator: "x", omittingEmptySubsequences: false)
      .map { Quantity.count(String($0)) }
    guard numbers.count == 2, let packets = numbers[0], let bytes = numbers[1],
      (1...64).contains(packets), (20...1024).contains(bytes)
    else { return nil }
    return Pool(packets: packets, bytes: bytes)
  }

  private static func halfword(_ text: String) -> UInt16? {
    Quantity.word(text).flatMap { UInt16(exactly: $0) }
  }
}

extension DeviceKind {
  /// An application, and Nordic's bootloader of SDK 11 and before or what InfiniTime made of it.
  public static func legacyBootloader(_ settings: LegacyBootloaderSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
