/// The start of a file that may consist of text records.
enum TextPrefix {
  /// The number of bytes in which the first line is searched; the longest record has 521
  /// characters.
  private static let lineLimit = 1024
  /// The byte order mark of UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the size of a UTF-8 byte order mark at the start, 0 or 3 bytes.
  static func byteOrderMark(of text: [UInt8]) -> Int {
    text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
  }

  /// Returns whether the bytes start with a byte order mark of UTF-16.
  static func isUTF16(_ text: [UInt8]) -> Bool {
    text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
  }

  /// Returns the first line that is not blank, from its first character that is not blank; `nil` if
  /// the bytes are not text.
  static func line(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    let blanks = lineEnds + [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var start = Array(bytes.prefix(lineLimit).dropFirst(byteOrderMark(of: bytes)))
    // UTF-16 is decoded only for the error message, because no format supports it.
    if isUTF16(bytes) { start = start.dropFirst(2).filter { $0 != 0 } }
    let text = start.drop { blanks.contains($0) }
    let line = text.prefix { !lineEnds.contains($0) }
    let isText = line.allSatisfy { (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\t") }
    return isText ? line : nil
  }
}
