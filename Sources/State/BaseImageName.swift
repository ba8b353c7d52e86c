import Crypto
import OtaflashFirmware

/// The file name of a stored image: `SIZE-CRC32-SHA256`, with ten decimal digits, 8 hexadecimal
/// digits, and 64 hexadecimal digits. The name identifies the content.
struct BaseImageName: Hashable {
  /// The size in bytes, as devices report it for their running image.
  let size: UInt32
  let crc32: UInt32
  /// The SHA-256 as 64 lower-case hexadecimal digits.
  let sha256: String

  init(of bytes: [UInt8]) {
    size = UInt32(bytes.count)
    crc32 = CRC32.checksum(bytes)
    sha256 = SHA256.hash(data: bytes).map { Self.digits(UInt32($0), 2, radix: 16) }.joined()
  }

  /// Parses a file name; returns `nil` if the name is invalid.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-")
    guard parts.count == 3, let size = UInt32(parts[0]), let crc32 = UInt32(parts[1], radix: 16)
    else { return nil }
    self.size = size
    self.crc32 = crc32
    sha256 = String(parts[2])
    let isHash = sha256.utf8.count == 64 && sha256.utf8.allSatisfy { $0.isLowercaseHexadecimal }
    guard isHash, self.text == text else { return nil }
  }

  var text: String {
    "\(Self.digits(size, 10, radix: 10))-\(Self.digits(crc32, 8, radix: 16))-\(sha256)"
  }

  private static func digits(_ value: UInt32, _ width: Int, radix: Int) -> String {
    let digits = String(value, radix: radix)
    return String(repeating: "0", count: width - digits.count) + digits
  }
}

extension UInt8 {
  fileprivate var isLowercaseHexadecimal: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
  }
}
