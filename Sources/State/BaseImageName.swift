import Crypto
import OtaflashFirmware

/// What the file of a kept image is called: `SIZE-CRC32-SHA256`, ten decimal digits, then 8 and 64
/// hexadecimal ones. So the file says itself what it must hold.
struct BaseImageName: Hashable {
  /// What devices tell of the image that they run.
  let size: UInt32
  let crc32: UInt32
  /// 64 digits, lower case.
  let sha256: String

  init(of bytes: [UInt8]) {
    size = UInt32(bytes.count)
    crc32 = CRC32.checksum(bytes)
    sha256 = SHA256.hash(data: bytes).map { Self.digits(UInt32($0), 2, radix: 16) }.joined()
  }

  /// `nil` where the text is none that we write.
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
