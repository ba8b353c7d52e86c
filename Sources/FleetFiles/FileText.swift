#if Fleet
/// The text of a file from an editor or a spreadsheet: UTF-8, or UTF-16 with a byte order mark.
enum FileText {
  private static let markUTF8: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text as UTF-8 without a byte order mark.
  ///
  /// - Throws: the position of the first byte that is not text.
  static func utf8(
    _ bytes: [UInt8], of file: CampaignFileFault.File
  ) throws(CampaignFileFault) -> [UInt8] {
    if bytes.starts(with: markUTF8) { return try checked(Array(bytes.dropFirst(3)), of: file) }
    if bytes.starts(with: [0xFF, 0xFE]) { return try fromUTF16(bytes, of: file) { $1 << 8 | $0 } }
    if bytes.starts(with: [0xFE, 0xFF]) { return try fromUTF16(bytes, of: file) { $0 << 8 | $1 } }
    return try checked(bytes, of: file)
  }

  /// Returns the text for display, even if it is invalid.
  static func shown(_ bytes: [UInt8]) -> [UInt8] {
    do throws(CampaignFileFault) { return try utf8(bytes, of: .campaign) } catch { return bytes }
  }

  private static func fromUTF16(
    _ bytes: [UInt8], of file: CampaignFileFault.File,
    _ unit: (UInt16, UInt16) -> UInt16
  ) throws(CampaignFileFault) -> [UInt8] {
    var units: [UInt16] = []
    units.reserveCapacity(bytes.count / 2)
    for index in stride(from: 2, to: bytes.count - 1, by: 2) {
      units.append(unit(UInt16(bytes[index]), UInt16(bytes[index + 1])))
    }
    guard bytes.count.isMultiple(of: 2), let text = String(validating: units, as: UTF16.self) else {
      throw CampaignFileFault(
        file, at: .start,
        "the file has a byte order mark of UTF-16 but is not UTF-16 text; save it as UTF-8")
    }
    return Array(text.utf8)
  }

  private static func checked(
    _ bytes: [UInt8], of file: CampaignFileFault.File
  ) throws(CampaignFileFault) -> [UInt8] {
    guard String(validating: bytes, as: UTF8.self) == nil else { return bytes }
    let (place, byte) = firstInvalid(in: bytes)
    let digits = String(byte, radix: 16, uppercase: true)
    // Windows-1252 has printable characters from 0x80 to 0x9F; Latin-1 has none.
    let character = byte >= 0xA0 ? ", '\(Character(Unicode.Scalar(byte)))' in Latin-1," : ""
    throw CampaignFileFault(
      file, at: place,
      "the byte 0x\(digits)\(character) is not UTF-8; the file may be Latin-1 or Windows-1252: "
        + "save it as UTF-8")
  }

  /// Returns the position of the first byte that is not part of a character; columns count
  /// characters.
  private static func firstInvalid(in bytes: [UInt8]) -> (FilePlace, UInt8) {
    var decoder = Unicode.UTF8.ForwardParser()
    var rest = bytes.makeIterator()
    var (line, column, index) = (1, 1, 0)
    while case .valid(let scalar) = decoder.parseScalar(from: &rest) {
      index += scalar.count
      let isLineEnd = scalar.count == 1 && scalar.first == UInt8(ascii: "\n")
      (line, column) = isLineEnd ? (line + 1, 1) : (line, column + 1)
    }
    return (FilePlace(line: line, column: column), bytes[min(index, bytes.count - 1)])
  }
}
#endif
