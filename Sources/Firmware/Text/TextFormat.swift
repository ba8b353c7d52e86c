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

  /// Of UTF-8.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Octets of a byte order mark of UTF-8 at the beginning, 0 or 3.
  static func byteOrderMark(of text: [UInt8]) -> Int {
    text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
  }

  /// Whether a text begins with a byte order mark of UTF-16.
  static func isUTF16(_ text: [UInt8]) -> Bool {
    text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF])
  }

  private init?(beginning bytes: [UInt8]) {
    let lineEnds = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    let blanks = lineEnds + [UInt8(ascii: " "), UInt8(ascii: "\t")]
    var start = Array(bytes.prefix(Self.firstLineLimit).dropFirst(Self.byteOrderMark(of: bytes)))
    // Only to be named: no format is read in UTF-16.
    if Self.isUTF16(bytes) { start = start.dropFirst(2).filter { $0 != 0 } }
    let text = start.drop { blanks.contains($0) }
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
