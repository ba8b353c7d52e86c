/// The kind of chip that a UF2 file is for (UF2 specification, family list).
public struct UF2Family: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// No specific chip: addresses are absolute (pico-sdk, boot/uf2.h).
  static let absolute = UF2Family(rawValue: 0xE48B_FF57)

  private static let names: [UInt32: String] = [
    0x1B57_745F: "Nordic nRF52", 0xADA5_2840: "Nordic nRF52840", 0x621E_937A: "Nordic nRF52833",
    0xE48B_FF56: "Raspberry Pi RP2040", 0xE48B_FF59: "Raspberry Pi RP2350, Arm secure",
    0xE48B_FF5A: "Raspberry Pi RP2350, RISC-V", 0x1C5F_21B0: "Espressif ESP32",
    0xBFDD_4EEE: "Espressif ESP32-S2", 0xC47E_5767: "Espressif ESP32-S3",
    0xD42B_A06C: "Espressif ESP32-C3", 0x68ED_2B88: "Microchip SAMD21",
    0x5511_4460: "Microchip SAMD51", 0x5775_5A57: "ST STM32F4", 0x00FF_6919: "ST STM32L4",
  ]
}

extension UF2Family: CustomStringConvertible {
  public var description: String {
    let number = "0x\(rawValue.hexadecimal)"
    return Self.names[rawValue].map { "\($0) (\(number))" } ?? "family \(number)"
  }
}
