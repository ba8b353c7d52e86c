/// The options of updates over SUOTA.
public struct SUOTAOptions: Equatable, Sendable, ProtocolOptions {
  /// The memory in which the device stores the image.
  public enum Memory: String, CaseIterable, Sendable {
    /// A flash with SPI, or the flash of the chip.
    case spi
    /// An EEPROM with I2C.
    case i2c
  }

  /// The memory in which the device stores the image.
  public var memory = Memory.spi
  /// The bank of the image: 0 = the bank with the older image, 1 and 2 = this bank.
  public var bank = 0
  /// The pins of a memory with SPI, one byte each, in the order MISO, MOSI, CS, CLK; the high
  /// nibble of a byte is the port. For I2C: the address of the memory in two bytes, SCL and SDA.
  /// `nil` = the pins of a known product, or of the SDK's examples. Only the DA1453x and DA1458x
  /// use this value.
  public var pins: UInt32?

  /// Creates the defaults.
  public init() {}
}

extension UpdateOptions {
  /// The options of updates over SUOTA.
  public var suota: SUOTAOptions {
    get { self[SUOTAOptions.self] }
    set { self[SUOTAOptions.self] = newValue }
  }
}
