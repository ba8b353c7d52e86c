/// The formats that are text. They have no magic number: the name tells them, or the first line.
enum TextFormat: CaseIterable {
  case intelHex
  case sRecord

  /// `nil` for a file that is neither by its name nor by its beginning.
  ///
  /// Only text counts, not well-formed text: a file with a damaged first line must be refused for
  /// what it is and never be sent as a binary.
  init?(name: String, file: [UInt8]) {
    let name = name.lowercased()
    let named = Self.allCases.first { format in
      format.suffixes.contains { name.hasSuffix($0) }
    }
    guard let format = named ?? Self(beginning: file) else { return nil }
    self = format
  }

  private var suffixes: [String] {
    switch self {
    case .intelHex: [".hex", ".ihex", ".ihx"]
    case .sRecord: [".srec", ".s19", ".s28", ".s37", ".mot"]
    }
  }

  /// A longer first line than the longest record (521 characters) is no text.
  private static let firstLineLimit = 1024
  /// Of the shortest S-record, `S9030000FC`.
  private static let sRecordMinimum = 10

  /// Of UTF-8: not allowed in these formats, but a sign of text.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private init?(beginning bytes: [UInt8]) {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    let blanks = lineEnds + [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let mark = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    let text = bytes.prefix(Self.firstLineLimit).dropFirst(mark).drop { blanks.contains($0) }
    let line = text.prefix { !lineEnds.contains($0) }
    guard line.allSatisfy({ (0x20...0x7E).contains($0) || $0 == UInt8(ascii: "\t") }) else {
      return nil
    }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    switch line.first {
    case UInt8(ascii: ":"): self = .intelHex
    case UInt8(ascii: "S")
    where line.count >= Self.sRecordMinimum && digits.contains(line[line.startIndex + 1]):
      self = .sRecord
    default: return nil
    }
  }
}
