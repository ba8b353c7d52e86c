import OtaflashATT
import OtaflashGATT

/// A product that differs from the examples of the SDKs.
struct SUOTAQuirk: Equatable, Sendable {
  /// A service of the product.
  let service: BluetoothUUID
  /// The pins of its flash.
  let pins: UInt32

  /// The pins of the flash in the examples of the SDKs, which most products use: MISO P0_5, MOSI
  /// P0_6, CS P0_3, CLK P0_0 (`app_suotar.h`).
  static let pinsOfExamples: UInt32 = 0x0506_0300
  /// The pins of an EEPROM in the examples: address 0x50, SCL P0_2, SDA P0_3.
  static let pinsOfEEPROM: UInt32 = 0x0050_0203

  static let all = [
    // XY4 finder (XYOracleNetwork/sdk-ble-android, `OtaUpdate.kt`).
    SUOTAQuirk(service: "a44eacf4-0104-0001-0000-5f784c9977b5", pins: 0x0506_0700)
  ]

  /// Returns the pins for a device.
  ///
  /// - Parameter services: the services of the device.
  static func pins(for services: [BluetoothUUID], _ options: SUOTAOptions) -> UInt32 {
    if let pins = options.pins { return pins }
    if options.memory == .i2c { return pinsOfEEPROM }
    return all.first { services.contains($0.service) }?.pins ?? pinsOfExamples
  }
}
