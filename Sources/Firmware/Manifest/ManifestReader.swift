/// Parses a package's manifest. The parser accepts strict JSON. It rejects an object in which a key
/// occurs twice, because JSON parsers do not agree on which value to use. As an exception, it
/// accepts a hexadecimal number without quotes; such a number is not valid JSON, but Zephyr's build
/// system writes it.
struct ManifestReader {
  /// The maximum size of a manifest in bytes; typical manifests have one or two thousand bytes.
  static let sizeMaximum = 64 << 10
  /// The maximum depth of nested objects and arrays.
  static let depthMaximum = 16
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private var rest: ArraySlice<UInt8>
  private var line = 1

  static func read(_ bytes: [UInt8]) throws(ManifestFault) -> ManifestValue {
    guard bytes.count <= sizeMaximum else { throw .tooLarge(limit: sizeMaximum) }
    let mark = bytes.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    var reader = ManifestReader(rest: bytes[mark...])
    let value = try reader.value(depth: 0)
    reader.skipBlanks()
    guard reader.rest.isEmpty else { throw reader.fault("data after the end") }
    return value
  }

  private init(rest: ArraySlice<UInt8>) { self.rest = rest }

  private func fault(_ detail: String) -> ManifestFault { .notJSON(line: line, detail) }

  private mutating func value(depth: Int) throws(ManifestFault) -> ManifestValue {
    guard depth < Self.depthMaximum else {
      throw fault("more than \(Self.depthMaximum) levels")
    }
    skipBlanks()
    switch rest.first {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    default: return try word()
    }
  }

  private mutating func object(depth: Int) throws(ManifestFault) -> ManifestValue {
    rest.removeFirst()
    var members: [String: ManifestValue] = [:]
    if take("}") { return .object(members) }
    repeat {
      skipBlanks()
      guard rest.first == UInt8(ascii: "\"") else { throw fault("a key in quotes must follow") }
      let key = try string()
      guard take(":") else { throw fault("a ':' must follow the key '\(key)'") }
      let value = try value(depth: depth + 1)
      guard members.updateValue(value, forKey: key) == nil else {
        throw fault("the key '\(key)' occurs twice")
      }
    } while take(",")
    guard take("}") else { throw fault("a ',' or '}' must follow") }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(ManifestFault) -> ManifestValue {
    rest.removeFirst()
    var elements: [ManifestValue] = []
    if take("]") { return .array(elements) }
    repeat { elements.append(try value(depth: depth + 1)) } while take(",")
    guard take("]") else { throw fault("a ',' or ']' must follow") }
    return .array(elements)
  }

  /// Reads `true`, `false`, `null`, or a number.
  private mutating func word() throws(ManifestFault) -> ManifestValue {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    let word = rest.prefix {
      digits.contains($0) || letters.contains($0 | 0x20) || "+-.".utf8.contains($0)
    }
    let text = String(decoding: word, as: UTF8.self)
    rest = rest.dropFirst(word.count)
    switch text {
    case "true": return .boolean(true)
    case "false": return .boolean(false)
    case "null": return .null
    case "": throw fault(rest.isEmpty ? "the file is truncated" : "a value must follow")
    default:
      guard Self.isNumber(word) else { throw fault("'\(text)' is not a value") }
      return .number(text)
    }
  }

  /// Returns whether the word is a JSON number (RFC 8259, 6), or `0x` followed by 1 to 16
  /// hexadecimal digits.
  private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
    if word.starts(with: Array("0x".utf8)) || word.starts(with: Array("0X".utf8)) {
      let digits = word.dropFirst(2)
      return (1...16).contains(digits.count) && digits.allSatisfy { $0.hexadecimalDigit != nil }
    }
    var rest = word
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let whole = digits(&rest)
    guard whole.count == 1 || (whole.count > 1 && whole.first != UInt8(ascii: "0")) else {
      return false
    }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard !digits(&rest).isEmpty else { return false }
    }
    if let mark = rest.first, "eE".utf8.contains(mark) {
      rest = rest.dropFirst()
      if let sign = rest.first, "+-".utf8.contains(sign) { rest = rest.dropFirst() }
      guard !digits(&rest).isEmpty else { return false }
    }
    return rest.isEmpty
  }

  private static func digits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest.dropFirst(digits.count)
    return digits
  }

  private mutating func skipBlanks() {
    while let byte = rest.first, " \t\r\n".utf8.contains(byte) {
      if byte == UInt8(ascii: "\n") { line += 1 }
      rest.removeFirst()
    }
  }

  private mutating func take(_ mark: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard rest.first == UInt8(ascii: mark) else { return false }
    rest.removeFirst()
    return true
  }
}

extension ManifestReader {
  private mutating func string() throws(ManifestFault) -> String {
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes, as: UTF8.self) else {
          throw fault("a string that is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): bytes += try Array(String(escape()).utf8)
      case 0..<0x20: throw fault("a control character in a string")
      default: bytes.append(byte)
      }
    }
    throw fault("a string without end")
  }

  private mutating func escape() throws(ManifestFault) -> Character {
    switch rest.popFirst() {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let first = try codeUnit()
      guard UTF16.isLeadSurrogate(first) else { return try character([first]) }
      guard rest.starts(with: Array("\\u".utf8)) else { throw fault("half a surrogate pair") }
      rest = rest.dropFirst(2)
      return try character([first, codeUnit()])
    default: throw fault("an escape that JSON does not have")
    }
  }

  private mutating func codeUnit() throws(ManifestFault) -> UInt16 {
    let digits = rest.prefix(4)
    guard digits.count == 4, digits.allSatisfy({ $0.hexadecimalDigit != nil }) else {
      throw fault("an escape without four hexadecimal digits")
    }
    rest = rest.dropFirst(4)
    return digits.reduce(0) { $0 << 4 | UInt16($1.hexadecimalDigit ?? 0) }
  }

  private func character(_ units: [UInt16]) throws(ManifestFault) -> Character {
    guard let text = String(validating: units, as: UTF16.self), let character = text.first else {
      throw fault("half a surrogate pair")
    }
    return character
  }
}
