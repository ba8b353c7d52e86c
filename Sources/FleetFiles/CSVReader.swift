#if Fleet
/// The records of a CSV text (RFC 4180), strictly: what is neither quoted nor unquoted is refused.
struct CSVReader {
  struct Field: Hashable {
    let text: String
    let place: FilePlace
  }

  /// In characters; a longer field is a quotation mark that was never closed.
  private static let fieldMaximum = 4096
  /// In a record: there are seven columns. A line of commas alone must not take the memory.
  private static let fieldsMaximum = 64

  private let characters: [Unicode.Scalar]
  private let file: CampaignFileFault.File
  private var index: Int
  private var place = FilePlace.start

  /// What separates fields: a comma, or what the first line has instead. Spreadsheets write
  /// semicolons where the comma is the decimal separator, and tabs as "Unicode text".
  let separator: Unicode.Scalar

  init(text: String, file: CampaignFileFault.File) {
    characters = Array(text.unicodeScalars)
    self.file = file
    index = 0
    let header = characters.prefix { $0 != "\n" }
    separator = header.contains(",") ? "," : header.first { $0 == ";" || $0 == "\t" } ?? ","
  }

  /// Passes over the rest of a row with a mistake.
  mutating func skipRow() {
    while index < characters.count, characters[index] != "\n" { advance() }
  }

  /// The line that is read next.
  var line: Int { place.line }

  /// The next record, which has one field or more; `nil` at the end. Empty lines are none.
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
        file, at: place, "after a closing quotation mark comes a \(separatorName) or the line's end"
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
          file, at: place, "a field with a quotation mark in it stands in quotation marks")
      }
      guard character.properties.generalCategory != .control else {
        throw CampaignFileFault(file, at: place, "there is a control character")
      }
      text.append(character)
      advance()
      guard index <= limit else {
        throw CampaignFileFault(
          file, at: start, "a field has at most \(Self.fieldMaximum) characters")
      }
    }
    // Blanks around a field are seen by nobody and make two ids of one.
    let characters = String(text)
    guard characters.first?.isWhitespace != true, characters.last?.isWhitespace != true else {
      throw CampaignFileFault(file, at: start, "there are blanks around '\(characters)'")
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

  /// One that ends a line; another is a control character in a field.
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
