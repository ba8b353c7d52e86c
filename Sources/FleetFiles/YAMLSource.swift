#if Fleet
/// The text of a YAML document, for what its parser does not report.
struct YAMLSource {
  private let lines: [[Character]]

  init(_ text: String) {
    // A file with a mistake is read by a person; the rest of a long one is not searched.
    let start = text.prefix(Self.sizeMaximum)
    lines = start.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
  }

  private static let sizeMaximum = 1 << 20

  /// The parser's message, in words for what people type.
  func words(of message: String, at place: FilePlace) -> String {
    guard message.contains("cannot start any token"), let character = character(at: place) else {
      return message
    }
    return character == "\t"
      ? "there is a tab; YAML is indented with spaces"
      : "no value starts with '\(character)'; write it in quotation marks"
  }

  private func character(at place: FilePlace) -> Character? {
    guard lines.indices.contains(place.line - 1) else { return nil }
    let line = lines[place.line - 1]
    return line.indices.contains(place.column - 1) ? line[place.column - 1] : nil
  }

  /// Where a key is the second time in a mapping: in the column of the mapping, or within its
  /// braces. `nil` = the text does not show it.
  func place(ofSecond key: String, inMappingAt mapping: FilePlace) -> FilePlace? {
    // The parser names a mapping by its brace, or by its first key.
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

  /// Columns at which `key:` begins in a line, in quotation marks or not.
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
