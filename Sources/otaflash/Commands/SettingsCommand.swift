import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

/// The settings of a device with SMP.
struct SettingsCommand: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "settings",
    abstract: "Read and change the settings of a device with SMP.",
    discussion: """
      A setting has a name such as app/rate, and a value whose format the application defines. The \
      firmware must be built with CONFIG_MCUMGR_GRP_SETTINGS. SMP cannot list the names. To try it \
      without a device:

        otaflash settings get app/rate --type u32 -d sim:smp
      """,
    subcommands: [
      SettingsGet.self, SettingsSet.self, SettingsSave.self, SettingsDelete.self,
    ])

  @OptionGroup var global: GlobalOptions
}

/// The format of a value.
struct SettingFormatOptions: ParsableArguments, Sendable {
  @Flag(name: .long, help: "Write the value as hexadecimal digits.")
  var hex = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The type of a number, little endian: u8, u16, u32, u64, i8, i16, i32 or i64.",
      valueName: "type"))
  var type: SettingNumber?

  func validate() throws {
    guard !hex || type == nil else {
      throw ValidationError("--hex cannot be combined with --type")
    }
  }

  /// Returns the bytes of a value on the command line.
  func bytes(of text: String) throws -> [UInt8] {
    if hex {
      guard let bytes = Text.bytes(hex: text) else {
        throw ValidationError("'\(text)' is not an even number of hexadecimal digits")
      }
      return bytes
    }
    guard let type else { return Array(text.utf8) }
    guard let bytes = type.bytes(of: text) else {
      throw ValidationError("'\(text)' is not a number of the type \(type.rawValue)")
    }
    return bytes
  }

  /// Returns a value as text: a number, printable text, or hexadecimal digits. Returns `nil` if the
  /// value has another length than the type.
  func text(of bytes: [UInt8]) -> String? {
    if let type { return type.text(of: bytes) }
    return hex ? Text.hex(bytes) : Self.printable(bytes) ?? Text.hex(bytes)
  }

  /// Returns printable text; `nil` for other bytes.
  static func printable(_ bytes: [UInt8]) -> String? {
    guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
    return text.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control && $0.properties.generalCategory != .unassigned
    } ? text : nil
  }
}

/// A number of a setting, little endian.
enum SettingNumber: String, ExpressibleByArgument, CaseIterable, Sendable {
  case u8, u16, u32, u64, i8, i16, i32, i64

  private var size: Int {
    switch self {
    case .u8, .i8: 1
    case .u16, .i16: 2
    case .u32, .i32: 4
    case .u64, .i64: 8
    }
  }

  private var isSigned: Bool { rawValue.hasPrefix("i") }

  /// Returns the bytes of a decimal number, or of a hexadecimal number with the prefix 0x; `nil` if
  /// the number is out of range.
  func bytes(of text: String) -> [UInt8]? {
    let pattern: UInt64
    if let digits = text.hasPrefix("0x") ? text.dropFirst(2) : nil {
      guard let value = UInt64(digits, radix: 16), size == 8 || value >> (8 * size) == 0 else {
        return nil
      }
      pattern = value
    } else if isSigned {
      guard let value = Int64(text), [0, -1].contains(value >> (8 * size - 1)) else { return nil }
      pattern = UInt64(bitPattern: value)
    } else {
      guard let value = UInt64(text), size == 8 || value >> (8 * size) == 0 else { return nil }
      pattern = value
    }
    return (0..<size).map { UInt8(truncatingIfNeeded: pattern >> (8 * $0)) }
  }

  /// Returns the number as decimal digits; `nil` for bytes of another length.
  func text(of bytes: [UInt8]) -> String? {
    guard bytes.count == size else { return nil }
    let pattern = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard isSigned else { return String(pattern) }
    let shift = 64 - 8 * size
    return String(Int64(bitPattern: pattern << shift) >> shift)
  }
}
