#if Fleet
/// One line of a file.
package struct FileLine: Hashable, Sendable {
  /// The maximum length in bytes; longer lines are truncated.
  private static let sizeMaximum = 1 << 16

  package let text: String

  /// - Parameters:
  ///   - number: the number of the line, from 1.
  ///   - bytes: the content of the file.
  /// - Returns: `nil` if the file does not have the line.
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
