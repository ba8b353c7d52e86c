#if Fleet
/// One line of a file, as far as it is text.
package struct FileLine: Hashable, Sendable {
  /// In bytes; what is beyond it is not looked at.
  private static let sizeMaximum = 1 << 16

  package let text: String

  /// - Parameters:
  ///   - number: counts from 1.
  ///   - bytes: of the file.
  /// - Returns: `nil` for a line that the file has not.
  package init?(_ number: Int, of bytes: [UInt8]) {
    let content = FileText.shown(bytes)
    var rest = content[...]
    for _ in 1..<max(number, 1) {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      rest = rest[(end + 1)...]
    }
    let line = rest.prefix { $0 != UInt8(ascii: "\n") }.prefix(Self.sizeMaximum)
    let text = String(decoding: line, as: UTF8.self)
    self.text = text.hasSuffix("\r") ? String(text.dropLast()) : text
  }
}
#endif
