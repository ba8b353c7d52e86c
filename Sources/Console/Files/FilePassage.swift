/// The location of a fault in a text file, and the text of this line.
package struct FilePassage: Equatable, Sendable {
  /// The maximum number of characters to show of a line.
  private static let width = 88

  package let path: String
  /// Line and column, from 1; the column counts characters.
  package let line: Int
  package let column: Int
  /// The fault, as a clause.
  package var words: String
  /// The text of the line; `nil` = the line is not shown.
  package var source: String?

  package init(path: String, line: Int, column: Int, words: String, source: String? = nil) {
    self.path = path
    self.line = line
    self.column = column
    self.words = words
    self.source = source
  }

  package var what: String { "\(path), line \(line), column \(column): \(words)" }

  /// The line and a caret under the column; empty if the line is not shown.
  package var excerpt: [String] {
    guard let source else { return [] }
    let characters = Array(source)
    guard column <= characters.count + 1 else { return [] }
    // If the line is long, only the part around the column is shown.
    let start = max(0, min(column - 1 - Self.width / 2, characters.count - Self.width))
    let shown = characters[start..<min(characters.count, start + Self.width)]
    let number = "\(line)"
    let margin = String(repeating: " ", count: number.count)
    // Every character occupies one column; control characters are replaced by spaces.
    let text = String(shown.map { $0.isPlain ? $0 : " " })
    let indent = String(repeating: " ", count: column - 1 - start)
    return ["  \(number) | \(text)", "  \(margin) | \(indent)^"]
  }
}

extension Character {
  /// Whether the character occupies one column when printed.
  fileprivate var isPlain: Bool {
    unicodeScalars.count == 1
      && unicodeScalars.allSatisfy {
        $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
      }
  }
}
