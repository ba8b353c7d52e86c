import ArgumentParser
import OtaflashConsole
import OtaflashUpdate

extension SUOTAOptions.Memory: ExpressibleByArgument {}

/// The options for devices with SUOTA.
package struct SUOTAArguments: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "The memory in which a device with SUOTA stores the image: spi or i2c (default: spi).",
      valueName: "memory"))
  package var suotaMemory: SUOTAOptions.Memory?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The image bank of a device with SUOTA: 0 (the older image), 1 or 2 (default: 0).",
      valueName: "bank"))
  package var suotaBank: UInt8?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The pins of the flash of a DA1453x or DA1458x: MISO, MOSI, CS, CLK (default: 05060300).",
      valueName: "pins"),
    transform: SUOTAArguments.pins)
  package var suotaPins: UInt32?

  package init() {}

  package func validate() throws {
    guard suotaBank ?? 0 <= 2 else {
      throw ValidationError("--suota-bank is 0 (the older image), 1 or 2")
    }
  }

  /// Parses 8 hexadecimal digits.
  private static func pins(_ text: String) throws -> UInt32 {
    guard text.count == 8, text.allSatisfy(\.isHexDigit), let pins = UInt32(text, radix: 16) else {
      throw ValidationError("'\(text)' is not 8 hexadecimal digits, such as 05060300")
    }
    return pins
  }

  /// Stores the options in the options of an update.
  package func apply(to options: inout UpdateOptions) {
    options.suota.memory = suotaMemory ?? .spi
    options.suota.bank = Int(suotaBank ?? 0)
    options.suota.pins = suotaPins
  }
}
