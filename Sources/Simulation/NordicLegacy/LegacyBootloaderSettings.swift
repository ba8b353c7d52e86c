import OtaflashATT
import OtaflashFirmware

/// The settings of a device with Nordic's legacy DFU.
public struct LegacyBootloaderSettings: Hashable, Sendable {
  /// The origin of the receiver.
  public enum Variant: String, CaseIterable, Sendable {
    /// Nordic's bootloader of SDK 11.
    case sdk11
    /// Adafruit's derivative: larger packets, more buffers, a longer timeout.
    case adafruit
    /// The DFU service in InfiniTime, the firmware of a watch.
    case infinitime
  }

  /// The method that starts the bootloader of SDK 11 or Adafruit's.
  public enum Entry: String, CaseIterable, Sendable {
    /// A write to the application's Control Point. The bootloader uses the next address.
    case buttonless
    /// A button. The bootloader runs at each boot until a new image has started, regardless of the
    /// flash content.
    case button
  }

  /// The bank that receives an application.
  public enum Banks: String, CaseIterable, Sendable {
    /// One bank, which contains the running application and is erased when a transfer starts.
    case single
    /// A second bank.
    case dual
  }

  /// The buffers for data packets that wait to be written to flash.
  public struct Pool: Hashable, Sendable {
    /// The number of packets.
    public var packets: Int
    /// The longest packet, in bytes.
    public var bytes: Int

    /// Creates a pool for this number of packets and bytes.
    public init(packets: Int, bytes: Int) {
      self.packets = packets
      self.bytes = bytes
    }
  }

  /// The origin of the receiver.
  public var variant = Variant.sdk11
  /// The method that starts the bootloader.
  public var entry = Entry.buttonless
  /// The number of banks.
  public var banks = Banks.single
  /// The pool of buffers; `nil` = the default of the variant: 8 buffers of 32 bytes, or Adafruit's
  /// 16 of 600.
  public var pool: Pool?
  /// The version of Adafruit's bootloader. Versions before 0.10 have 8 buffers, and 0.11.0 answers
  /// no START.
  public var bootloaderVersion = FirmwareVersion(0, 10, 0)
  /// The device type that an init packet must state; 0xFFFF in the init packet matches every
  /// device.
  public var deviceType: UInt16 = 0x0001
  /// The revision that an init packet must state.
  public var deviceRevision: UInt16 = 0x0001
  /// The id of the SoftDevice in flash, as used in the list of an init packet.
  public var softDevice: UInt16 = 0x0064
  /// Whether the user of the watch has disabled updates and access to files: the services reject
  /// requests with 0x08.
  public var isDisabled = false
  /// Whether the user of the watch has permitted updates and access to files only until the next
  /// restart.
  public var isEnabledTillReboot = false
  /// The size of the file system of the watch in bytes; 0 = the firmware has no file service. The
  /// real watch has 3.3 MiB.
  public var fileSystemSize = 512 * 1024
  /// The time after the last sizes, init packet, data or validation at which the bootloader resets;
  /// `nil` = the default of the variant: 120 s, or Adafruit's 360 s.
  public var inactivity: Duration?
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = true
  /// Whether this is the bootloader of a micro:bit V1. It keeps the address of the application, and
  /// starts an application without verifying it, because partial flashing changes the application.
  var isMicrobit = false

  /// Creates the settings of Nordic's bootloader of SDK 11, with the default values.
  public init() {}

  var packetPool: Pool {
    if let pool { return pool }
    guard variant == .adafruit else { return Pool(packets: 8, bytes: 32) }
    return Pool(packets: bootloaderVersion < FirmwareVersion(0, 10, 0) ? 8 : 16, bytes: 600)
  }

  /// Whether the bootloader erases the application after START, and then hangs (Adafruit 0.11.0,
  /// issue 399).
  var hangsAfterStart: Bool {
    variant == .adafruit && bootloaderVersion == FirmwareVersion(0, 11, 0)
  }

  var silenceLimit: Duration {
    inactivity ?? (variant == .adafruit ? .seconds(360) : .seconds(120))
  }

  /// The maximum ATT_MTU of the SoftDevice.
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
      name: "infinitime", summary: "a watch whose application supports Nordic's legacy DFU",
      device: .legacyBootloader(LegacyBootloaderSettings(.infinitime))
    ) { $0.becomeNordic() },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("variant", "the origin of the receiver", \.variant),
    KindKey("entry", "the way into the bootloader", \.entry),
    KindKey("banks", "the number of banks for the application", \.banks),
    KindKey("pool", "packet buffers and bytes of each", "such as 8x32 or 16x600", \.pool) {
      pool($0).map(Optional.some)
    },
    KindKey(
      "bootloader", "the version of Adafruit's bootloader", "a version such as 0.9.2",
      \.bootloaderVersion
    ) { FirmwareVersion($0) },
    KindKey("type", "the device's type", "a number up to 65535", \.deviceType) { halfword($0) },
    KindKey("revision", "the device's revision", "a number up to 65535", \.deviceRevision) {
      halfword($0)
    },
    KindKey("sd", "the SoftDevice in flash", "an id such as 0x64", \.softDevice) {
      halfword($0)
    },
    KindKey("disabled", "updates and access to files are disabled", \.isDisabled),
    KindKey(
      "till-reboot", "updates and access to files are permitted until the next restart",
      \.isEnabledTillReboot),
    KindKey(
      "files", "the size of the watch's file system", "a size from 16K to 4M such as 512K, or no",
      \.fileSystemSize, fileSystemSize),
    .inactivity(\.inactivity), .information(\.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .log, .address]

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

  /// Only the watch has a file system.
  var dataPages: Int {
    variant == .infinitime ? fileSystemSize / BoardSettings.pageSize : 0
  }

  private init(_ variant: Variant) { self.variant = variant }

  private static func fileSystemSize(_ text: String) -> Int? {
    if text == "no" { return 0 }
    return Quantity.size(text).flatMap { (16 * 1024...4 * 1024 * 1024).contains($0) ? $0 : nil }
  }

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
  /// Returns a device with an application and Nordic's bootloader of SDK 11 or Adafruit's, or with
  /// InfiniTime's receiver.
  public static func legacyBootloader(_ settings: LegacyBootloaderSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
