import OtaflashATT

/// The settings of a device with the SUOTA service of Renesas (formerly Dialog).
public struct SUOTASettings: Hashable, Sendable {
  /// The family of chips, which determines the receiver: the SDKs of the DA1453x and DA1458x
  /// receive blocks, the SDK of the DA1468x and DA1469x receives a stream.
  public enum Chip: String, CaseIterable, Sendable {
    /// A DA1453x or DA1458x.
    case da1453x
    /// A DA1468x.
    case da1468x
    /// A DA1469x.
    case da1469x
  }

  /// The memory in which the device stores the image.
  public enum Memory: String, CaseIterable, Sendable {
    /// A flash at the SPI bus.
    case spi
    /// An EEPROM at the I2C bus.
    case i2c
  }

  /// The time at which the device erases its flash. Only for the DA1453x and DA1458x.
  public enum Erasing: String, CaseIterable, Sendable {
    /// All sectors of the image are erased with the first block.
    case image
    /// Each sector is erased when it is reached.
    case demand
  }

  /// The family of chips.
  public var chip = Chip.da1469x
  /// The memory of a DA1453x or DA1458x.
  public var memory = Memory.spi
  /// The pins of the flash of a DA1453x or DA1458x, in the order MISO, MOSI, CS, CLK.
  public var pins: UInt32 = 0x0506_0300
  /// The buffer of a DA1453x or DA1458x in bytes, which limits a block, 64…4096.
  public var bufferSize = 512
  /// The longest PATCH_DATA in bytes, 20…509.
  public var dataSize = 244
  /// Whether the service reports its version (1.3), the length of PATCH_DATA and the ATT_MTU.
  public var reportsSizes = true
  /// The time at which a DA1453x or DA1458x erases its flash.
  public var erasing = Erasing.image
  /// The maximum number of bytes in writes that wait while the chip uses its flash; further writes
  /// are dropped.
  public var poolSize = 3072
  /// Whether a DA1468x or DA1469x restarts instead of reporting an error of the image.
  public var asserts = false
  /// Whether the UUIDs are those of a product that replaces them.
  public var hasOtherUUIDs = false
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// Creates the settings of a device with a DA1469x.
  public init() {}

  init(_ chip: Chip) { self.chip = chip }
}

extension SUOTASettings: KindSettings {
  private static let slotSize = 256 * 1024

  static let presets = [
    ProfilePreset(
      name: "suota", summary: "an application with SUOTA on a DA1469x",
      device: .suota(SUOTASettings())
    ) { Self.apply(to: &$0) },
    ProfilePreset(
      name: "suota-da1453x", summary: "an application with SUOTA on a DA1453x or DA1458x",
      device: .suota(SUOTASettings(.da1453x))
    ) { Self.apply(to: &$0) },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("chip", "the family of chips", \.chip),
    KindKey("memory", "the memory of a DA1453x", \.memory),
    KindKey("pins", "the pins of the flash of a DA1453x", "8 hexadecimal digits", \.pins) {
      Quantity.hex($0).flatMap { $0.count == 4 ? $0.reduce(0) { $0 << 8 | UInt32($1) } : nil }
    },
    KindKey("block", "the buffer of a DA1453x", "64 to 4096 bytes", \.bufferSize) {
      Quantity.count($0).flatMap { (64...4096).contains($0) ? $0 : nil }
    },
    KindKey("data", "the longest PATCH_DATA", "20 to 509 bytes", \.dataSize) {
      Quantity.count($0).flatMap { (20...509).contains($0) ? $0 : nil }
    },
    KindKey("sizes", "the service reports its sizes", \.reportsSizes),
    KindKey("erasing", "when a DA1453x erases its flash", \.erasing),
    KindKey("pool", "bytes of writes that wait for the flash", "512 or more", \.poolSize) {
      Quantity.size($0).flatMap { $0 >= 512 ? $0 : nil }
    },
    KindKey("asserts", "errors of an image restart a DA1468x or DA1469x", \.asserts),
    KindKey("replaced", "the UUIDs are those of another product", \.hasOtherUUIDs),
    KindKey("information", "the application reports its version", \.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .trial, .log]

  static let faults = Fault.ofAnyDevice.union([.otherImage, .nonsense])

  var uuids: SUOTAUUID { hasOtherUUIDs ? .replaced : .standard }

  var service: BluetoothUUID { uuids.service }

  var applicationName: String { "SUOTA" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try SUOTAFirmware(self, of: parts)
  }

  private static func apply(to board: inout BoardSettings) {
    board.mtu = 247
    board.slotSize = slotSize
    board.linkDrop = .close
  }
}

extension DeviceKind {
  /// Returns a device with the SUOTA service.
  public static func suota(_ settings: SUOTASettings) -> DeviceKind { DeviceKind(settings) }
}
