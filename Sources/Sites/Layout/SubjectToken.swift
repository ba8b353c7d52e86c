#if Sites
/// A text as one token of a subject or key. ASCII letters, digits, `-` and `_` are unchanged; each
/// other byte is replaced by `=` and two hex digits. Different texts have different tokens.
package struct SubjectToken: Hashable, Sendable, CustomStringConvertible {
  /// The token that represents no text, for example for jobs without a site.
  package static let none = SubjectToken(raw: "=")

  private static let digits = Array("0123456789ABCDEF".utf8)

  package let description: String

  /// Creates the token of a text.
  ///
  /// - Parameter text: a name that is not empty.
  package init(_ text: String) {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if Self.isPlain(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "="), Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]]
      }
    }
    description = String(decoding: bytes, as: UTF8.self)
  }

  private init(raw: String) { description = raw }

  /// Returns the text of a token; `nil` if no text has this token.
  package static func text(of token: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var rest = Substring(token).utf8
    while let byte = rest.popFirst() {
      if isPlain(byte) {
        bytes.append(byte)
      } else {
        guard byte == UInt8(ascii: "="), let high = rest.popFirst().flatMap(value),
          let low = rest.popFirst().flatMap(value)
        else { return nil }
        bytes.append(high << 4 | low)
      }
    }
    guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty,
      SubjectToken(text).description == token
    else { return nil }
    return text
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    digits.firstIndex(of: digit).map { UInt8($0) }
  }
}
#endif
