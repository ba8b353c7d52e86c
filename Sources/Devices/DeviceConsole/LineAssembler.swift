/// Assembles lines from the values of a characteristic. A value may contain parts of lines, and a
/// character may be split between two values. Sequences that color text (ECMA-48 control sequences)
/// are removed.
package struct LineAssembler: Sendable {
  /// The maximum length of a line in bytes; a longer line is split.
  package static let maximum = 4096
  private static let escape: UInt8 = 0x1B

  private var pending: [UInt8] = []

  package init() {}

  /// Whether the last line has no end yet.
  package var isUnfinished: Bool { !pending.isEmpty }

  /// Returns the lines that these bytes complete. Empty lines are dropped.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [String] {
    var lines: [String] = []
    for byte in bytes {
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        if let line = flush() { lines.append(line) }
      } else if byte != 0 {
        pending.append(byte)
        if pending.count == Self.maximum, let line = flush() { lines.append(line) }
      }
    }
    return lines
  }

  /// Ends the last line, for example a prompt; `nil` if it is empty.
  package mutating func flush() -> String? {
    defer { pending = [] }
    let text = String(decoding: Self.withoutSequences(pending), as: UTF8.self)
    return text.isEmpty ? nil : text
  }

  private static func withoutSequences(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.contains(escape) else { return bytes }
    var kept: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      guard byte == escape, rest.first == UInt8(ascii: "[") else {
        kept.append(byte)
        continue
      }
      rest = rest.dropFirst().drop { (0x20...0x3F).contains($0) }.dropFirst()
    }
    return kept
  }
}
