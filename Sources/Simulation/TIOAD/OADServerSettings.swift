import OtaflashATT

/// The settings of a device with TI's OAD.
public struct OADServerSettings: Hashable, Sendable {
  /// The generation of the SDK.
  public enum Generation: String, CaseIterable, Sendable {
    /// CC26xx and CC13xx: a Boot Image Manager, and images with TI's header.
    case bim
    /// CC23xx and later: MCUboot, and MCUboot images.
    case mcuboot
  }

  /// The chip or product, which the identification of an image must match.
  public enum Chip: String, CaseIterable, Sendable {
    /// CC2642, CC2652.
    case cc26x2
    /// CC1312, CC1352.
    case cc13x2
    /// CC2640R2.
    case cc2640r2
    /// A LEGO hub.
    case lego

    var identification: [UInt8] {
      let text =
        switch self {
        case .cc26x2: "CC26x2R1"
        case .cc13x2: "CC13x2R1"
        case .cc2640r2: "OAD IMG "
        case .lego: "LEGO 132"
        }
      return Array(text.utf8)
    }
  }

  /// The largest block in bytes with its number, for a Boot Image Manager.
  static let largestBlock = 244
  /// The block size of the profile with MCUboot, regardless of the ATT_MTU.
  static let fixedBlock = 240

  /// The generation of the SDK.
  public var generation = Generation.bim
  /// The chip or product.
  public var chip = Chip.cc26x2
  /// The number of written values for which the device has memory.
  public var queue = 20
  /// The time without a block after which the device discards a transfer.
  public var inactivity = Duration.seconds(10)
  /// Whether the device answers the request for its software version.
  public var reportsVersion = true
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = false

  /// Creates the settings of a device with a Boot Image Manager.
  public init() {}

  private init(_ generation: Generation, _ chip: Chip = .cc26x2) {
    (self.generation, self.chip) = (generation, chip)
  }
}

extension OADServerSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "ti-oad", summary: "an application with TI's OAD and a Boot Image Manager",
      device: .oadServer(OADServerSettings())
    ) { $0.becomeTI() },
    ProfilePreset(
      name: "ti-oad-mcuboot", summary: "an application with TI's OAD and MCUboot",
      device: .oadServer(OADServerSettings(.mcuboot))
    ) { $0.becomeTI() },
    ProfilePreset(
      name: "lego-oad", summary: "a LEGO hub with TI's OAD, which requires pairing",
      device: .oadServer(OADServerSettings(.bim, .lego))
    ) {
      $0.becomeTI()
      $0.security = .encrypted
    },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("generation", "the generation of the SDK", \.generation),
    KindKey("chip", "the chip or product", \.chip),
    KindKey(
      "memory", "the number of written values that the device holds", "1 or more", \.queue
    ) { Quantity.count($0) },
    KindKey(
      "inactivity", "the time without a block that ends a transfer", "a time such as 10s",
      \.inactivity
    ) { Quantity.duration($0) },
    KindKey("reports-version", "the device reports its software version", \.reportsVersion),
    KindKey("information", "the application reports its version", \.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .key, .trial, .log]

  static let faults = Fault.ofAnyDevice.union([.otherImage, .nonsense])

  var service: BluetoothUUID { OADUUID.service }

  var applicationName: String { chip == .lego ? "LEGO hub" : "TI OAD" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try OADFirmware(self, of: parts)
  }
}

extension BoardSettings {
  private static let maximumMTU = 247

  /// Sets the parameters of a chip with TI's BLE5-Stack.
  fileprivate mutating func becomeTI() {
    mtu = Self.maximumMTU
    linkDrop = .close
  }
}

extension DeviceKind {
  /// Returns a device with TI's OAD.
  public static func oadServer(_ settings: OADServerSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
