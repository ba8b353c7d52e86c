#if Fleet
import Mustache

/// The values that a template inserts into the page.
typealias PageValues = [String: Any]

/// Escaped text for HTML content and attributes. The text is escaped byte by byte. In Swift, `"`
/// with a combining accent is one character, which a search for `"` does not find, but a browser
/// ends the attribute there.
package struct PageContent: MustacheContentType {
  static let name = "OTAFLASH-PAGE"

  package func escapeText(_ text: String) -> String { Self.escaped(text) }

  package static func escaped(_ text: String) -> String {
    let visible = VisibleWords.escaped(text)
    guard visible.utf8.contains(where: isSpecial) else { return visible }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(visible.utf8.count + 16)
    for byte in visible.utf8 {
      switch byte {
      case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
      case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
      case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
      case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
      case UInt8(ascii: "'"): bytes += Array("&#39;".utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""),
      UInt8(ascii: "'"):
      true
    default: false
    }
  }
}

extension Double {
  /// A coordinate, rounded to a tenth of a pixel.
  package var pixels: String {
    let tenths = Int((self * 10).rounded())
    let (whole, rest) = tenths.quotientAndRemainder(dividingBy: 10)
    return rest == 0 ? "\(whole)" : "\(tenths < 0 ? "-" : "")\(abs(whole)).\(abs(rest))"
  }
}
#endif
