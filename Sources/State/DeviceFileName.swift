import OtaflashFirmware

/// The file name for one device. A device id can contain any character (`unix:/path`,
/// `sim:?seed=7`), so all bytes except ASCII letters, digits, `-`, `_` and `.` are replaced by `%`
/// and two hexadecimal digits. A `.` at the start of the name is also replaced.
enum DeviceFileName {
  /// The maximum length of a name without the CRC32. It leaves room for the CRC32 and the longest
  /// suffix within NAME_MAX (255).
  static let lengthLimit = 200

  /// Returns the name for an id. The name is unique unless it would be too long; it is then
  /// truncated, and ends with the CRC32 of the id.
  static func escaped(_ device: String) -> String {
    var name = ""
    for byte in device.utf8 { name += character(byte, leading: name.isEmpty) }
    // An escaped name never consists of a single `%`, and never contains `~`.
    guard !name.isEmpty else { return "%" }
    guard name.utf8.count > lengthLimit else { return name }
    return name.prefix(lengthLimit) + "~" + String(CRC32.checksum(device.utf8), radix: 16)
  }

  /// Returns a digest of 8 bytes as hex digits, for short names.
  static func digest(_ text: String) -> String {
    // FNV-1a, 64 bits.
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3
    }
    return String(hash, radix: 16)
  }

  private static func character(_ byte: UInt8, leading: Bool) -> String {
    switch byte {
    case UInt8(ascii: "."): if !leading { return "." }
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
      return String(UnicodeScalar(byte))
    default: break
    }
    let digits = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "%0" + digits : "%" + digits
  }
}
