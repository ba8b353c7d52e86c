/// The lines of an ASCII text, without line ends and trailing blanks.
struct TextLines {
  /// The number of the line that `next()` returned last, from 1.
  private(set) var number = 0
  private var rest: ArraySlice<UInt8>

  /// Skips a UTF-8 byte order mark, which some editors write.
  init(_ text: [UInt8]) { rest = text[...].dropFirst(TextPrefix.byteOrderMark(of: text)) }

  mutating func next() -> ArraySlice<UInt8>? {
    guard !rest.isEmpty else { return nil }
    number += 1
    guard let end = rest.firstIndex(where: { $0 == Self.lineFeed || $0 == Self.carriageReturn })
    else {
      defer { rest = [] }
      return Self.trimmed(rest)
    }
    var following = rest[end...].dropFirst()
    if rest[end] == Self.carriageReturn, following.first == Self.lineFeed {
      following = following.dropFirst()
    }
    defer { rest = following }
    return Self.trimmed(rest[..<end])
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    guard let last = line.lastIndex(where: { !blanks.contains($0) }) else { return [] }
    return line[...last]
  }
}
