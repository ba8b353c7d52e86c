import FoundationEssentials
import OtaflashFirmware

/// The files that `Fixtures/make` creates, most of them with the tools of other projects.
enum Fixture {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  static func bytes(_ path: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: folder.appending(path: path)))
  }

  static func json<Value: Decodable>(_ path: String, as _: Value.Type = Value.self) throws -> Value
  {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Value.self, from: Data(bytes(path)))
  }

  static func key(_ path: String) throws -> VerificationKey {
    try VerificationKey(pem: bytes(path + ".pub.pem"))
  }

  static func package(_ path: String) throws -> FirmwarePackage {
    try FirmwarePackage.decode(name: path, bytes: bytes(path))
  }

  static func image(_ path: String) throws -> FirmwareImage {
    try FirmwareImage.decode(name: path, bytes: bytes(path))
  }
}

extension [UInt8] {
  /// Parses pairs of hexadecimal digits; blanks between them are ignored.
  init(hex digits: String) {
    let digits = digits.filter { !$0.isWhitespace }
    self = stride(from: 0, to: digits.count, by: 2).map { index in
      let start = digits.index(digits.startIndex, offsetBy: index)
      return UInt8(digits[start...].prefix(2), radix: 16) ?? 0
    }
  }

  var hex: String {
    map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  func replacing(_ index: Int, by byte: UInt8) -> [UInt8] {
    var copy = self
    copy[index] = byte
    return copy
  }

  func littleEndian<Word: FixedWidthInteger>(_ word: Word, at index: Int) -> [UInt8] {
    var copy = self
    for byte in 0..<(Word.bitWidth / 8) {
      copy[index + byte] = UInt8(truncatingIfNeeded: word >> (8 * byte))
    }
    return copy
  }
}

/// Returns the bytes of a little-endian number.
func littleEndian<Word: FixedWidthInteger>(_ word: Word) -> [UInt8] {
  [UInt8](repeating: 0, count: Word.bitWidth / 8).littleEndian(word, at: 0)
}
