/// How a file begins that may be a text of records.
enum TextPrefix {
  /// A longer first line than the longest record (521 characters) is no text.
  private static let lineLimit = 1024
  /// Of UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Bytes of a byte order mark of UTF-8 at the beginning, 0 or 3.
  static func byteOrderMark(of text: [UInt8]) -> Int {
    text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
  }

  /// Whether a text begins with a byte order mark of UTF-16.
  static func isUTF16(_ text: [UInt8]) -> Bool {
    text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
  }

  /// The first line that is not blank, from its first character that is none; `nil` of what is no
  /// text.
  static func line(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    let blanks = lineEnds + [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var start = Array(bytes.prefix(lineLimit).dropFirst(byteOrderMark(of: bytes)))
    // Only to be named: no format is read in UTF-16.
    if isUTF16(bytes) { start = start.dropFirst(2).filter { $0 != 0 } }
    let text = start.drop { blanks.contains($0) }
    let line = text.prefix { !lineEnds.contains($0) }
    let isText = line.allSatisfy { (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\t") }
    return isText ? line : nil
  }
}
