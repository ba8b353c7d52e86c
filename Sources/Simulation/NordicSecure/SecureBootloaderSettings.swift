import OtaflashATT

/// What only a device with Nordic's Secure DFU bootloader has to set.
public struct SecureBootloaderSettings: Hashable, Sendable {
  /// How the bootloader is entered.
  public enum Entry: String, CaseIterable, Sendable {
    /// By the application's Buttonless DFU without bonds: the bootloader has the next address.
    case buttonless
    /// By Buttonless DFU with bonds: the address stays, and the link must be encrypted.
    case bonded
    /// By the experimental buttonless service of SDK 12.
    case experimental
    /// By a button that is held: the bootloader runs first, whatever is in flash.
    case button
  }

  /// Where an image is received.
  public enum Banks: String, CaseIterable, Sendable {
    /// Beside the application, which stays until the image is whole.
    case dual
    /// Over the application.
    case single
  }

  /// What signatures of init packets are checked with.
  public enum Verification: Hashable, Sendable {
    /// The public key of `SampleKey`.
    case sample
    /// X and Y of an own key, 64 bytes.
    case own([UInt8])
    /// Nobody looks: no bootloader that is shipped does so.
    case none
  }

  /// How the application is made to start it.
  public var entry = Entry.buttonless
  /// Whose signatures it takes.
  public var verification = Verification.sample
  /// How many images its flash has room for.
  public var banks = Banks.dual
  /// The version of the application that left the factory, in its init packet.
  public var applicationVersion: UInt32 = 1
  /// The number that Version answers, and updates of it must exceed.
  public var bootloaderVersion: UInt32 = 1
  /// What an init packet must name exactly.
  public var hardwareVersion: UInt32 = 52
  /// The SoftDevice in flash, as `sd_req` numbers it.
  public var softDevice: UInt32 = 0xB7
  /// Init packets with `is_debug` are believed without version checks.
  public var isDebug = false
  /// Bytes of the longest init packet.
  public var initPacketMaximum = 512
  /// Bytes of the largest data object, a multiple of a page.
  public var dataObjectMaximum = 4096
  /// The bootloader resets after so long without a request.
  public var inactivity: Duration = .seconds(120)
  /// The application tells its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// A bootloader with the defaults above.
  public init() {}

  /// X and Y; `nil` = signatures are not looked at.
  var publicKey: [UInt8]? {
    switch verification {
    case .sample: SampleKey.publicKey
    case .own(let bytes): bytes
    case .none: nil
    }
  }
}

extension SecureBootloaderSettings: KindSettings {
  static let presets = [
    ProfilePreset(
      name: "nordic-dfu", summary: "a buttonless application and Nordic's Secure DFU bootloader",
      device: .secureBootloader(SecureBootloaderSettings())
    ) { $0.becomeNordic() }
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("entry", "what leads to the bootloader", \.entry),
    KindKey("banks", "where an image is received", \.banks),
    KindKey(
      "key", "what signatures are checked with",
      "sample, none, or a public key's X and Y, 64 bytes in hexadecimal", \.verification,
      verification),
    KindKey("fw", "the application's version", "a number", \.applicationVersion) {
      Quantity.word($0)
    },
    KindKey("bl", "the bootloader's version", "a number", \.bootloaderVersion) {
      Quantity.word($0)
    },
    KindKey("hw", "the hardware's version", "a number", \.hardwareVersion) { Quantity.word($0) },
    KindKey("sd", "the SoftDevice that is there", "an id such as 0xB7", \.softDevice) {
      Quantity.word($0)
    },
    KindKey("debug", "init packets for debugging are believed", \.isDebug),
    KindKey("init", "the longest init packet", "bytes, 64 to 1024", \.initPacketMaximum) {
      Quantity.size($0).flatMap { (64...1024).contains($0) ? $0 : nil }
    },
    KindKey(
      "object", "the largest data object", "bytes, 4K to 64K, a multiple of 4K",
      \.dataObjectMaximum
    ) {
      Quantity.size($0).flatMap {
        (4096...65_536).contains($0) && $0.isMultiple(of: 4096) ? $0 : nil
      }
    },
    .inactivity(\.inactivity), .information(\.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .trial, .key, .address]

  static let faults: Set<Fault> = Fault.ofAnyDevice.union([
    .wrongCRCOnce, .wrongCRCAlways, .repeatOffset, .jumpBack, .beyondEnd, .otherImage, .nonsense,
    .foreignState,
  ])

  var service: BluetoothUUID { ButtonlessApplication.serviceUUID(of: entry) }
  var applicationName: String { "Nordic_App" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try SecureFirmware(self, of: parts)
  }

  private static func verification(_ text: String) -> Verification? {
    switch text {
    case "sample": .sample
    case "none": Verification.none
    default: Quantity.hex(text).flatMap { $0.count == 64 ? .own($0) : nil }
    }
  }
}

extension DeviceKind {
  /// An application with a buttonless service, and Nordic's Secure DFU bootloader.
  public static func secureBootloader(_ settings: SecureBootloaderSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
