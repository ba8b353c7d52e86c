/// The line that the user types, with history. The type is pure: it converts the bytes of a
/// terminal to finished lines.
package struct LineEditor: Sendable {
  /// The maximum number of finished lines to recall.
  private static let historyMaximum = 200
  private static let escape: UInt8 = 0x1B

  /// The result of some input.
  package enum Input: Equatable, Sendable {
    case line(String)
    /// Ctrl-D in an empty line, or the end of the input.
    case end
  }

  /// The typed text, and the number of characters before the cursor.
  package private(set) var text: [Character] = []
  package private(set) var cursor = 0
  private var history: [String] = []
  /// The shown line of the history; `nil` = the line that is being typed.
  private var recalled: Int?
  private var draft: [Character] = []
  private var pending: [UInt8] = []

  package init() {}

  /// Handles typed bytes. Returns the lines that they finish.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Input] {
    var inputs: [Input] = []
    for byte in bytes {
      pending.append(byte)
      if let input = handle() { inputs.append(input) }
    }
    return inputs
  }

  /// Returns the line with a mark at the cursor.
  package func shown(in style: Style) -> Line {
    let before = String(text[..<cursor])
    let under = cursor < text.count ? String(text[cursor]) : " "
    let after = cursor < text.count ? String(text[(cursor + 1)...]) : ""
    return "> \(before)\(style.cursor(under))\(after)"
  }

  private mutating func handle() -> Input? {
    guard pending[0] != Self.escape else {
      if let sequence = finishedSequence() {
        pending = []
        move(by: sequence)
      }
      return nil
    }
    guard pending[0] >= 0x20, pending[0] != 0x7F else {
      let byte = pending[0]
      pending = []
      return control(byte)
    }
    // A character of UTF-8 is complete when it decodes without repair.
    if let character = String(validating: pending, as: UTF8.self) {
      text.insert(contentsOf: character, at: cursor)
      cursor += character.count
      pending = []
    } else if pending.count >= 4 {
      pending = []
    }
    return nil
  }

  private mutating func control(_ byte: UInt8) -> Input? {
    switch byte {
    case 0x0A, 0x0D: return .line(finish())
    case 0x04: return text.isEmpty ? .end : nil
    case 0x08, 0x7F:
      if cursor > 0 {
        cursor -= 1
        text.remove(at: cursor)
      }
    case 0x01: cursor = 0
    case 0x05: cursor = text.count
    case 0x0B: text.removeSubrange(cursor...)
    case 0x15:
      text.removeSubrange(..<cursor)
      cursor = 0
    case 0x10: recall(older: true)
    case 0x0E: recall(older: false)
    default: break
    }
    return nil
  }

  private mutating func finish() -> String {
    let line = String(text)
    if !line.isEmpty, history.last != line {
      history.append(line)
      if history.count > Self.historyMaximum { history.removeFirst() }
    }
    (text, cursor, recalled, draft) = ([], 0, nil, [])
    return line
  }

  /// Returns a control sequence without its first two bytes, or an empty string for another
  /// sequence; `nil` if the sequence is incomplete.
  private func finishedSequence() -> String? {
    guard pending.count > 1 else { return nil }
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else { return "" }
    guard pending.count > 2, (0x40...0x7E).contains(pending[pending.count - 1]) else { return nil }
    return String(decoding: pending.dropFirst(2), as: UTF8.self)
  }

  private mutating func move(by sequence: String) {
    switch sequence {
    case "A": recall(older: true)
    case "B": recall(older: false)
    case "C": cursor = min(cursor + 1, text.count)
    case "D": cursor = max(cursor - 1, 0)
    case "H", "1~": cursor = 0
    case "F", "4~": cursor = text.count
    case "3~": if cursor < text.count { text.remove(at: cursor) }
    default: break
    }
  }

  private mutating func recall(older: Bool) {
    let place = recalled ?? history.count
    let next = older ? place - 1 : place + 1
    guard next >= 0, next <= history.count else { return }
    if recalled == nil { draft = text }
    recalled = next == history.count ? nil : next
    text = recalled.map { Array(history[$0]) } ?? draft
    cursor = text.count
  }
}
