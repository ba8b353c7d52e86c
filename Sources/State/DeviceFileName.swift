import OtaflashFirmware

/// The name of a file that belongs to one device. A device's id can hold any character
/// (`unix:/path`, `sim:?seed=7`); what is no ASCII letter, digit, `-`, `_` or inner `.` becomes `%`
/// and two digits.
enum DeviceFileName {
  /// Leaves room for the longest suffix within NAME_MAX (255).
  static let lengthLimit = 200

  /// Different for different ids; of two ids whose names would be too long, up to their CRC32.
  static func escaped(_ device: String) -> String {
    var name = ""
    for byte in device.utf8 { name += character(byte, leading: name.isEmpty) }
    // A lone `%` and a `~` come out of no character.
    guard !name.isEmpty else { return "%" }
    guard name.utf8.count > lengthLimit else { return name }
    return name.prefix(lengthLimit) + "~" + String(CRC32.checksum(device.utf8), radix: 16)
  }

  /// Eight bytes as digits, for where a name of any length is too long.
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
