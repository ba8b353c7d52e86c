import OtaflashConsole
import OtaflashFirmware
import OtaflashUpdate

extension SUOTAImage {
  /// The time of the build in seconds since 1970; `nil` if the build did not set the time
  /// (0xFFFFFFFF).
  private var seconds: Int? { timestamp == .max ? nil : Int(timestamp) }

  var facts: [[String]] {
    [
      ["chip", chip.rawValue], ["app version", versionText],
      ["code", "\(Text.grouped(codeSize)) B, CRC32 \(Text.hex(checksum))"],
      ["built", seconds.map { "\(CalendarTime(secondsSince1970: $0)) UTC" } ?? "unknown"],
      ["encrypted", isEncrypted ? "yes" : "no"],
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "chip": .string(chip.rawValue), "version": .string(versionText),
      "code_size": .integer(codeSize), "crc32": .string(Text.hex(checksum)),
      "built": .integer(seconds), "encrypted": .bool(isEncrypted),
    ])
  }
}
