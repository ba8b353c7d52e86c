import OtaflashATT
import OtaflashGATT

/// The settings of a device with Espressif's OTA service.
public struct EspressifSettings: Hashable, Sendable {
  /// The implementation of the service.
  public enum Variant: String, CaseIterable, Sendable {
    /// Espressif's component ble_ota on NimBLE.
    case nimble
    /// Espressif's component ble_ota on Bluedroid.
    case bluedroid
    /// Espressif's component ble_ota_raw.
    case raw
    /// The Arduino library NimBLEOta.
    case nimbleOTA = "nimbleota"
    /// The Arduino library BLEOTA.
    case bleOTA = "bleota"
  }

  /// The implementation.
  public var variant: Variant
  /// Whether the application keeps an interrupted transfer for 30 s (NimBLEOta, `secure.cpp`).
  public var keepsTransfer = false
  /// Whether the application reports its version in a Device Information Service.
  public var hasDeviceInformation = false
  /// The id of the chip for which an image must be built; 5 is the ESP32-C3.
  public var chip: UInt16 = 5
  /// Whether the characteristic for commands is missing, as in a service of another purpose with
  /// the same UUID.
  public var isLookalike = false

  /// Creates the settings of an implementation, with the default values.
  public init(_ variant: Variant) {
    self.variant = variant
    hasDeviceInformation = variant == .raw
  }

  /// The properties of the characteristics for firmware and commands.
  var properties: CharacteristicProperties {
    switch variant {
    case .nimble, .bluedroid: [.write, .indicate]
    case .raw, .bleOTA: [.write, .writeWithoutResponse, .notify, .indicate]
    case .nimbleOTA: [.write, .writeWithoutResponse, .indicate]
    }
  }

  /// Whether the service has the characteristics for progress and customer data.
  var hasProgress: Bool {
    switch variant {
    case .nimble, .bluedroid, .raw: true
    case .nimbleOTA, .bleOTA: false
    }
  }
}

extension EspressifSettings: KindSettings {
  static let presets = [
    preset("esp-nimble", "an ESP32 with Espressif's ble_ota on NimBLE", .nimble) { $0.mtu = 256 },
    preset("esp-bluedroid", "an ESP32 with Espressif's ble_ota on Bluedroid", .bluedroid),
    preset("esp-raw", "an ESP32 with Espressif's ble_ota_raw, which grants a window", .raw) {
      $0.ringSize = 12_288
    },
    preset("esp-nimbleota", "an ESP32 with the Arduino library NimBLEOta", .nimbleOTA),
    preset("esp-bleota", "an ESP32 with the Arduino library BLEOTA", .bleOTA),
  ]

  private static func preset(
    _ name: String, _ summary: String, _ variant: Variant,
    _ apply: @escaping @Sendable (inout BoardSettings) -> Void = { _ in }
  ) -> ProfilePreset {
    ProfilePreset(
      name: name, summary: summary, device: .espressif(EspressifSettings(variant)), apply: apply)
  }

  static let keys: [KindKey<Self>] = [
    KindKey("keep", "the application keeps an interrupted transfer for 30 s", \.keepsTransfer),
    KindKey("chip", "the id of the chip", "a number up to 65535", \.chip) {
      Quantity.word($0).flatMap { UInt16(exactly: $0) }
    },
    KindKey("lookalike", "the service has no characteristic for commands", \.isLookalike),
    KindKey("information", "the application reports its version", \.hasDeviceInformation),
  ]

  static let foreignKeys: Set<ProfileKey> = [.hardware, .key, .log, .address, .trial]

  static let faults = Fault.ofAnyDevice.union([.nonsense])

  var service: BluetoothUUID { EspressifUUID.service }

  var applicationName: String {
    switch variant {
    case .nimble: "nimble-ble-ota"
    case .bluedroid: "ESP&C919"
    case .raw: "BLE_OTA"
    case .nimbleOTA: "NIMBLE OTA"
    case .bleOTA: "ESP32"
    }
  }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try EspressifFirmware(self, of: parts)
  }
}

extension DeviceKind {
  /// Returns an ESP32 with Espressif's OTA service.
  public static func espressif(_ settings: EspressifSettings) -> DeviceKind { DeviceKind(settings) }
}
