import OtaflashATT

/// What a simulated board is: which update service its firmware offers, with what only that kind
/// has to set.
public enum DeviceKind: Hashable, Sendable {
  /// The OTA service (docs/ota-service.md).
  case otaReceiver
  /// An application with a buttonless service, and Nordic's Secure DFU boot loader.
  case secureBootLoader(SecureBootLoaderSettings)
  /// An application, and Nordic's boot loader of SDK 11 and before or what InfiniTime made of it.
  case legacyBootLoader(LegacyBootLoaderSettings)
  /// A Zephyr application with the SMP service, and MCUboot.
  case smpServer(SMPServerSettings)
}

/// A key that one kind of device adds to those of all profiles.
struct KindKey<Settings>: Sendable {
  let key: String
  /// A clause for a person who chooses.
  let summary: String
  /// What a value must look like.
  let allowed: String
  /// Sets the value; `false` when it is not allowed.
  let apply: @Sendable (String, inout Settings) -> Bool

  init(
    _ key: String, _ summary: String, _ allowed: String,
    _ apply: @escaping @Sendable (String, inout Settings) -> Bool
  ) {
    (self.key, self.summary, self.allowed, self.apply) = (key, summary, allowed, apply)
  }

  /// A key whose value `read` makes of the text, or `nil` when it is not allowed.
  init<Value>(
    _ key: String, _ summary: String, _ allowed: String,
    _ field: WritableKeyPath<Settings, Value> & Sendable,
    _ read: @escaping @Sendable (String) -> Value?
  ) {
    self.init(key, summary, allowed) { text, settings in
      guard let value = read(text) else { return false }
      settings[keyPath: field] = value
      return true
    }
  }

  /// A key whose value is one of the names of an enumeration.
  init<Value: RawRepresentable & CaseIterable & Sendable>(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Value> & Sendable
  ) where Value.RawValue == String {
    let names = Value.allCases.map(\.rawValue)
    let allowed = names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    self.init(key, summary, allowed, field) { Value(rawValue: $0) }
  }

  /// A key whose value is `yes` or `no`.
  init(
    _ key: String, _ summary: String, _ field: WritableKeyPath<Settings, Bool> & Sendable
  ) {
    self.init(key, summary, "yes or no", field) { ["yes": true, "no": false][$0] }
  }
}

/// What a person is told of a key that one kind of device has.
package struct KindKeyListing: Hashable, Sendable {
  package let key: String
  package let summary: String
  /// What a value must look like.
  package let allowed: String
}

/// The settings of one kind.
protocol KindSettings: Hashable, Sendable {
  static var keys: [KindKey<Self>] { get }
  /// The keys of all profiles that mean nothing to this kind.
  static var foreignKeys: Set<ProfileKey> { get }
  /// The faults that this kind knows.
  static var faults: Set<FaultName> { get }
}

extension KindSettings {
  static var listing: [KindKeyListing] {
    keys.map { KindKeyListing(key: $0.key, summary: $0.summary, allowed: $0.allowed) }
  }

  /// `nil` when the kind has no such key, else the fault that setting it met.
  mutating func set(_ key: String, to text: String?) -> Result<Void, ProfileFault>? {
    guard let setting = Self.keys.first(where: { $0.key == key }) else { return nil }
    guard let text, setting.apply(text, &self) else {
      return .failure(
        .valueNotAllowed(key: key, value: text ?? "", allowed: setting.allowed))
    }
    return .success(())
  }
}

extension FaultName {
  /// What may happen to any device: the link, the adapter, the flash, the reset.
  static let ofAnyDevice: Set<FaultName> = [
    .cutAtPDU, .cutAfter, .resetAtFlashOperation, .torn, .notificationLoss, .busyForever,
    .badBlock, .neverReturns, .comesBackOld, .reverts, .adapterVanishes, .silent, .mtuLie,
    .newAddress, .latePDU, .nonsensePDUs, .slowObserver,
  ]
}

extension DeviceKind {
  /// The service that the device advertises, for a radio that cannot follow its programs.
  public var service: BluetoothUUID {
    switch self {
    case .otaReceiver: DeviceUUID.otaService
    case .secureBootLoader(let settings): ButtonlessApplication.serviceUUID(of: settings.entry)
    case .legacyBootLoader: LegacyUUID.service
    case .smpServer: SMPProgram.service
    }
  }

  /// What an application of the kind calls itself.
  var applicationName: String {
    switch self {
    case .otaReceiver: "otaflash board"
    case .secureBootLoader: "Nordic_App"
    case .legacyBootLoader(let settings):
      switch settings.variant {
      case .sdk11: "Nordic_App"
      case .adafruit: "Bluefruit52"
      case .infinitime: "InfiniTime"
      }
    case .smpServer: "Zephyr"
    }
  }

  /// Images that the device keeps apart, each with slots of its own.
  var imageCount: Int {
    switch self {
    case .otaReceiver, .secureBootLoader, .legacyBootLoader: 1
    case .smpServer(let settings): settings.imageCount
    }
  }

  /// The keys beside those of all profiles.
  var ownKeys: [KindKeyListing] {
    switch self {
    case .otaReceiver: []
    case .secureBootLoader: SecureBootLoaderSettings.listing
    case .legacyBootLoader: LegacyBootLoaderSettings.listing
    case .smpServer: SMPServerSettings.listing
    }
  }

  func takes(_ key: ProfileKey) -> Bool {
    switch self {
    case .otaReceiver: true
    case .secureBootLoader: !SecureBootLoaderSettings.foreignKeys.contains(key)
    case .legacyBootLoader: !LegacyBootLoaderSettings.foreignKeys.contains(key)
    case .smpServer: !SMPServerSettings.foreignKeys.contains(key)
    }
  }

  func takes(_ fault: FaultName) -> Bool {
    switch self {
    case .otaReceiver: true
    case .secureBootLoader: SecureBootLoaderSettings.faults.contains(fault)
    case .legacyBootLoader: LegacyBootLoaderSettings.faults.contains(fault)
    case .smpServer: SMPServerSettings.faults.contains(fault)
    }
  }

  /// As `KindSettings.set`.
  mutating func set(_ key: String, to text: String?) -> Result<Void, ProfileFault>? {
    switch self {
    case .otaReceiver:
      return nil
    case .secureBootLoader(var settings):
      defer { self = .secureBootLoader(settings) }
      return settings.set(key, to: text)
    case .legacyBootLoader(var settings):
      defer { self = .legacyBootLoader(settings) }
      return settings.set(key, to: text)
    case .smpServer(var settings):
      defer { self = .smpServer(settings) }
      return settings.set(key, to: text)
    }
  }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    switch self {
    case .otaReceiver: try ReceiverFirmware(of: parts)
    case .secureBootLoader(let settings): try SecureFirmware(settings, of: parts)
    case .legacyBootLoader(let settings): try LegacyFirmware(settings, of: parts)
    case .smpServer(let settings): try SMPFirmware(settings, of: parts)
    }
  }
}
