/// One line of text with colors. Characters that control the terminal are escaped, so that external
/// text cannot add colors.
package struct Line: Equatable, Sendable {
  private struct Part: Equatable, Sendable {
    /// The numbers of an SGR sequence (ECMA-48, 8.3.117); `nil` for no color.
    let paint: String?
    var text: String
  }

  private var parts: [Part] = []

  package init(_ text: String, paint: String? = nil) {
    if !text.isEmpty { parts = [Part(paint: paint, text: text)] }
  }

  /// The text without colors.
  package var text: String { parts.map(\.text).joined() }

  package var isEmpty: Bool { parts.isEmpty }

  /// The width on a terminal.
  package var columns: Int { VisibleText.columns(text) }

  /// Returns the line shortened to the columns, with an ellipsis for omitted text.
  package func clipped(to columns: Int, in style: Style) -> Line {
    guard self.columns > columns else { return self }
    var room = max(columns - style.ellipsis.count, 0)
    var clipped = Line("")
    for part in parts {
      let text = VisibleText.prefix(part.text, columns: room)
      clipped = clipped + Line(text, paint: part.paint)
      room -= VisibleText.columns(text)
      // Otherwise, no ellipsis would mark the text that was omitted in the middle.
      guard text == VisibleText.escaped(part.text) else { break }
    }
    return clipped + style.ellipsis
  }

  /// Whether the line contains a command to copy.
  var containsCommand: Bool {
    let text = text.drop { $0 == " " }
    return ["help:", "next:"].contains { text.hasPrefix($0) } || text.contains("otaflash ")
  }

  /// The least width at which text is wrapped.
  private static let wrappingMinimum = 20

  /// Returns lines of at most `columns` columns, wrapped at spaces. The following lines are
  /// indented as the first line, or by two columns if the first line is not indented. Words that
  /// three spaces separate from others stay on one line if they fit. A longer word occupies a
  /// separate line.
  ///
  /// - Parameter hanging: whether the following lines are indented as the text after a label.
  package func wrapped(to columns: Int, hanging: Bool = false) -> [Line] {
    guard self.columns > columns, columns >= Self.wrappingMinimum else { return [self] }
    let first = text.prefix { $0 == " " }.count
    let indent = Line(
      String(
        repeating: " ",
        count: (hanging ? labelEnd(within: columns / 3) : nil) ?? (first > 0 ? first : 2)))
    var lines: [Line] = []
    var line = Line(String(repeating: " ", count: first))
    var isEmpty = true
    for group in groups {
      let whole = group.words.joined(separator: " ")
      if !isEmpty, group.gap == Self.groupGap, indent.columns + whole.columns <= columns,
        line.columns + group.gap + whole.columns > columns
      {
        lines.append(line)
        (line, isEmpty) = (indent, true)
      }
      for (index, word) in group.words.enumerated() where !(isEmpty && word.isEmpty) {
        let space = String(repeating: " ", count: isEmpty ? 0 : index == 0 ? group.gap : 1)
        if !isEmpty, line.columns + space.count + word.columns > columns {
          lines.append(line)
          (line, isEmpty) = (indent + word, word.isEmpty)
        } else {
          (line, isEmpty) = (line + space + word, false)
        }
      }
    }
    return lines + [line]
  }

  /// The number of spaces between parts of a line that should not be divided.
  private static let groupGap = 3

  /// Returns the column of the text after the last label: after two spaces or more, within the
  /// first `columns` columns. Returns `nil` without a label.
  private func labelEnd(within columns: Int) -> Int? {
    let text = Array(text)
    let first = text.prefix { $0 == " " }.count
    return text.indices.last {
      $0 <= columns && $0 >= first + 3 && text[$0] != " " && text[$0 - 1] == " "
        && text[$0 - 2] == " "
    }
  }

  /// The words, in groups that three spaces or more separate.
  private var groups: [(gap: Int, words: [Line])] {
    var groups: [(gap: Int, words: [Line])] = [(0, [])]
    var spaces = 0
    for word in words.drop(while: \.isEmpty) {
      if word.isEmpty {
        spaces += 1
        continue
      }
      if spaces >= Self.groupGap - 1 {
        groups.append((spaces + 1, [word]))
      } else {
        groups[groups.count - 1].words += Array(repeating: Line(""), count: spaces) + [word]
      }
      spaces = 0
    }
    return groups
  }

  /// The text between spaces, with its colors.
  private var words: [Line] {
    var words = [Line("")]
    for part in parts {
      for (index, text) in part.text.split(separator: " ", omittingEmptySubsequences: false)
        .enumerated()
      {
        if index > 0 { words.append("") }
        words[words.count - 1] = words[words.count - 1] + Line(String(text), paint: part.paint)
      }
    }
    return words
  }

  /// The text with escape sequences for the terminal.
  package var shown: String {
    parts.map { part in
      let text = VisibleText.escaped(part.text)
      return part.paint.map { "\u{1B}[\($0)m\(text)\u{1B}[0m" } ?? text
    }.joined()
  }

  package static func + (left: Line, right: Line) -> Line {
    var sum = left
    for part in right.parts {
      guard let last = sum.parts.last, last.paint == part.paint else {
        sum.parts.append(part)
        continue
      }
      sum.parts[sum.parts.count - 1].text += part.text
    }
    return sum
  }

  package static func + (left: Line, right: String) -> Line { left + Line(right) }
}

extension Line: ExpressibleByStringInterpolation {
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var line = Line("")

    package init(literalCapacity: Int, interpolationCount: Int) {}

    package mutating func appendLiteral(_ literal: String) { appendInterpolation(literal) }
    package mutating func appendInterpolation(_ text: some CustomStringConvertible) {
      line = line + Line(text.description)
    }
    package mutating func appendInterpolation(_ part: Line) { line = line + part }
  }

  package init(stringLiteral value: String) { self.init(value) }
  package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.line }
}

extension [Line] {
  package func joined(separator: Line) -> Line {
    guard let first else { return "" }
    return dropFirst().reduce(first) { $0 + separator + $1 }
  }
}
