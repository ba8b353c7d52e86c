#if Fleet
/// A strict reader for the records of CSV text (RFC 4180).
struct CSVReader {
  struct Field: Hashable {
    let text: String
    let place: FilePlace
  }

  /// The maximum length of a field in characters; longer fields are caused by unclosed quotation
  /// marks.
  private static let fieldMaximum = 4096
  /// The maximum number of fields in a record, which limits the memory; a table of devices has at
  /// most seven columns.
  private static let fieldsMaximum = 64

  private let characters: [Unicode.Scalar]
  private let file: CampaignFileFault.File
  private var index: Int
  private var place = FilePlace.start

  /// The field separator: a comma, or a semicolon or tab if the first line contains one of these
  /// and no comma.
  /// Spreadsheets write semicolons if the comma is the decimal separator, and tabs in "Unicode
  /// text".
  let separator: Unicode.Scalar

  init(text: String, file: CampaignFileFault.File) {
    characters = Array(text.unicodeScalars)
    self.file = file
    index = 0
    let header = characters.prefix { $0 != "\n" }
    separator = header.contains(",") ? "," : header.first { $0 == ";" || $0 == "\t" } ?? ","
  }

  /// Skips the rest of a row with a mistake.
  mutating func skipRow() {
    while index < characters.count, characters[index] != "\n" { advance() }
  }

  /// The number of the next line.
  var line: Int { place.line }

  /// Returns the next record, which has one or more fields; `nil` at the end. Empty lines are
  /// skipped.
  mutating func next() throws(CampaignFileFault) -> [Field]? {
    while skipLineEnd() {}
    guard index < characters.count else { return nil }
    var fields = [try field()]
    while index < characters.count, characters[index] == separator {
      guard fields.count < Self.fieldsMaximum else {
        throw CampaignFileFault(
          file, at: place, "a row has at most \(Self.fieldsMaximum) fields")
      }
      advance()
      fields.append(try field())
    }
    guard index == characters.count || skipLineEnd() else {
      throw CampaignFileFault(
        file, at: place, "expected a \(separatorName) or a line end after the quotation mark"
      )
    }
    return fields
  }

  private mutating func field() throws(CampaignFileFault) -> Field {
    let start = place
    guard index < characters.count, characters[index] == "\"" else {
      return Field(text: try unquoted(), place: start)
    }
    advance()
    var text = String.UnicodeScalarView()
    let limit = index + Self.fieldMaximum
    while index < characters.count {
      let character = characters[index]
      advance()
      if character == "\"" {
        guard index < characters.count, characters[index] == "\"" else {
          return Field(text: String(text), place: start)
        }
        advance()
      }
      text.append(character)
      guard index <= limit else { break }
    }
    throw CampaignFileFault(file, at: start, "the quotation mark is not closed")
  }

  private mutating func unquoted() throws(CampaignFileFault) -> String {
    let start = place
    var text = String.UnicodeScalarView()
    let limit = index + Self.fieldMaximum
    while index < characters.count {
      let character = characters[index]
      if character == separator || character == "\n" || isCarriageReturn(at: index) { break }
      guard character != "\"" else {
        throw CampaignFileFault(
          file, at: place, "a field that contains a quotation mark must be in quotation marks")
      }
      guard character.properties.generalCategory != .control else {
        throw CampaignFileFault(file, at: place, "control character in a field")
      }
      text.append(character)
      advance()
      guard index <= limit else {
        throw CampaignFileFault(
          file, at: start, "a field has at most \(Self.fieldMaximum) characters")
      }
    }
    // Spaces around a field are invisible, and would create a different id that looks the same.
    let characters = String(text)
    guard characters.first?.isWhitespace != true, characters.last?.isWhitespace != true else {
      throw CampaignFileFault(file, at: start, "spaces around '\(characters)'")
    }
    return characters
  }

  private var separatorName: String {
    switch separator {
    case ";": "semicolon"
    case "\t": "tab"
    default: "comma"
    }
  }

  /// Returns whether a carriage return ends a line; otherwise it is a control character within a
  /// field.
  private func isCarriageReturn(at index: Int) -> Bool {
    characters[index] == "\r"
      && (index + 1 == characters.count || characters[index + 1] == "\n")
  }

  private mutating func skipLineEnd() -> Bool {
    guard index < characters.count, characters[index] == "\n" || isCarriageReturn(at: index) else {
      return false
    }
    if characters[index] == "\r" { advance() }
    if index < characters.count { advance() }
    return true
  }

  private mutating func advance() {
    let isLineEnd = characters[index] == "\n"
    index += 1
    place =
      isLineEnd
      ? FilePlace(line: place.line + 1, column: 1)
      : FilePlace(line: place.line, column: place.column + 1)
  }
}
#endif
