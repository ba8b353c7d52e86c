import OtaflashATT

/// The settings of a device with Nordic's Secure DFU bootloader.
public struct SecureBootloaderSettings: Hashable, Sendable {
  /// The method that starts the bootloader.
  public enum Entry: String, CaseIterable, Sendable {
    /// The application's Buttonless DFU without bonds. The bootloader uses the next address.
    case buttonless
    /// Buttonless DFU with bonds. The address is kept, and the link must be encrypted.
    case bonded
    /// The experimental buttonless service of SDK 12.
    case experimental
    /// A button. The bootloader runs at each boot until a new application has started, regardless
    /// of the flash content.
    case button
  }

  /// The bank that receives an image.
  public enum Banks: String, CaseIterable, Sendable {
    /// A second bank. The application is kept until the image is complete.
    case dual
    /// The bank of the application.
    case single
  }

  /// The key that verifies the signatures of init packets.
  public enum Verification: Hashable, Sendable {
    /// The public key of `SampleKey`.
    case sample
    /// A custom key: X and Y, 64 bytes.
    case own([UInt8])
    /// No key: signatures are not verified, as by the bootloader of a micro:bit V2.
    case none
  }

  /// The method that starts the bootloader.
  public var entry = Entry.buttonless
  /// The key that verifies signatures.
  public var verification = Verification.sample
  /// The number of banks.
  public var banks = Banks.dual
  /// The version of the factory application, as in its init packet.
  public var applicationVersion: UInt32 = 1
  /// The version of the factory bootloader; an update of the bootloader must have a higher version.
  public var bootloaderVersion: UInt32 = 1
  /// The hardware version that an init packet must match exactly.
  public var hardwareVersion: UInt32 = 52
  /// The id of the SoftDevice in flash, as used in `sd_req`.
  public var softDevice: UInt32 = 0xB7
  /// Whether init packets with `is_debug` are accepted without version checks.
  public var isDebug = false
  /// The maximum size of an init packet in bytes.
  public var initPacketMaximum = 512
  /// The maximum size of a data object in bytes, a multiple of a page.
  public var dataObjectMaximum = 4096
  /// The time without a request after which the bootloader resets.
  public var inactivity: Duration = .seconds(120)
  /// Whether init packets have the structure of a micro:bit V2.
  var isMicrobit = false
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = true

  /// Creates the settings with the default values.
  public init() {}

  /// X and Y of the key; `nil` = signatures are not verified.
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
    KindKey("entry", "the way into the bootloader", \.entry),
    KindKey("banks", "the number of banks for the image", \.banks),
    KindKey(
      "key", "the key that verifies signatures",
      "sample, none, or a public key's X and Y, 64 bytes in hexadecimal", \.verification,
      verification),
    KindKey("fw", "the application's version", "a number", \.applicationVersion) {
      Quantity.word($0)
    },
    KindKey("bl", "the bootloader's version", "a number", \.bootloaderVersion) {
      Quantity.word($0)
    },
    KindKey("hw", "the hardware's version", "a number", \.hardwareVersion) { Quantity.word($0) },
    KindKey("sd", "the SoftDevice in flash", "an id such as 0xB7", \.softDevice) {
      Quantity.word($0)
    },
    KindKey("debug", "init packets for debugging are accepted", \.isDebug),
    KindKey("init", "the maximum init packet size", "bytes, 64 to 1024", \.initPacketMaximum) {
      Quantity.size($0).flatMap { (64...1024).contains($0) ? $0 : nil }
    },
    KindKey(
      "object", "the maximum data object size", "bytes, 4K to 64K, a multiple of 4K",
      \.dataObjectMaximum
    ) {
      Quantity.size($0).flatMap {
        (4096...65_536).contains($0) && $0.isMultiple(of: 4096) ? $0 : nil
      }
    },
    .inactivity(\.inactivity), .information(\.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.ring, .hardware, .trial, .key, .log, .address]

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
  /// Returns a device with a buttonless application and Nordic's Secure DFU bootloader.
  public static func secureBootloader(_ settings: SecureBootloaderSettings) -> DeviceKind {
    DeviceKind(settings)
  }
}
