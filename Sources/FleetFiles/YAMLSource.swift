#if Fleet
/// The text of a YAML document, for details that its parser does not report.
struct YAMLSource {
  private let lines: [[Character]]

  init(_ text: String) {
    // Only the start of a long file is searched.
    let start = text.prefix(Self.sizeMaximum)
    lines = start.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
  }

  private static let sizeMaximum = 1 << 20

  /// Returns the message of the parser, with a clearer text for frequent mistakes.
  func words(of message: String, at place: FilePlace) -> String {
    guard message.contains("cannot start any token"), let character = character(at: place) else {
      return message
    }
    return character == "\t"
      ? "tab character; YAML requires spaces for indentation"
      : "a value cannot start with '\(character)'; write it in quotation marks"
  }

  private func character(at place: FilePlace) -> Character? {
    guard lines.indices.contains(place.line - 1) else { return nil }
    let line = lines[place.line - 1]
    return line.indices.contains(place.column - 1) ? line[place.column - 1] : nil
  }

  /// Returns the position of the second occurrence of a key in a mapping. The search covers the
  /// column of the mapping, or, for a mapping in braces, all text after the start of the mapping.
  /// `nil` = not found.
  func place(ofSecond key: String, inMappingAt mapping: FilePlace) -> FilePlace? {
    // The parser reports the position of the brace, or of the first key.
    let line = lines.indices.contains(mapping.line - 1) ? lines[mapping.line - 1] : []
    let isFlow =
      character(at: mapping) == "{" || line.prefix(mapping.column - 1).last { $0 != " " } == "{"
    var places: [FilePlace] = []
    for (index, line) in lines.enumerated().dropFirst(mapping.line - 1) {
      for column in columns(of: key, in: line) {
        let place = FilePlace(line: index + 1, column: column)
        guard place >= mapping, isFlow || column == mapping.column else { continue }
        places.append(place)
        if places.count == 2 { return place }
      }
    }
    return nil
  }

  /// Returns the columns at which `key:` starts in a line, with or without quotation marks.
  private func columns(of key: String, in line: [Character]) -> [Int] {
    let separators: Set<Character> = [" ", "{", ",", "-", "\"", "'"]
    var columns: [Int] = []
    let key = Array(key)
    guard !key.isEmpty, line.count > key.count else { return [] }
    for start in 0..<(line.count - key.count) where Array(line[start..<start + key.count]) == key {
      let isQuoted = start > 0 && (line[start - 1] == "\"" || line[start - 1] == "'")
      guard start == 0 || separators.contains(line[start - 1]) else { continue }
      let rest = line[(start + key.count + (isQuoted ? 1 : 0))...].drop { $0 == " " }
      if rest.first == ":" { columns.append(isQuoted ? start : start + 1) }
    }
    return columns
  }
}
#endif
