/// An Intel HEX file as one stretch of memory, from its lowest to its highest address.
public struct IntelHexFile: Equatable, Sendable {
  public let bytes: [UInt8]
  public let layout: AddressLayout

  /// Reads a whole file. Lines end with LF, CRLF or CR; blank lines and trailing blanks are
  /// allowed. Records may come in any order of addresses but must not overlap.
  /// - Parameter spanLimit: the largest number of bytes between lowest and highest address.
  /// - Throws: `.intelHex` with the line, counted from 1, and what is wrong with it.
  public init(decoding text: [UInt8], spanLimit: Int) throws(FirmwareFault) {
    var memory = IntelHexMemory(spanLimit: spanLimit)
    var lines = TextLines(text)
    while let line = lines.next() {
      if line.isEmpty { continue }
      do throws(IntelHexFault) {
        try memory.add(IntelHexRecord(decoding: line), line: lines.number)
      } catch {
        throw .intelHex(line: lines.number, error)
      }
    }
    (bytes, layout) = try memory.image(lastLine: max(lines.number, 1))
  }
}

/// The lines of a text in ASCII, without line ends and trailing blanks.
private struct TextLines {
  /// The number of the line that `next()` gave last, from 1.
  private(set) var number = 0
  private var rest: ArraySlice<UInt8>

  init(_ text: [UInt8]) { rest = text[...] }

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
