#if Fleet
import Mustache

/// Values of the page: what a template fills in.
typealias PageValues = [String: Any]

/// Text in HTML, in attributes too: whatever it holds, it stays text. Byte by byte: to Swift `"`
/// with an accent is one letter, which no look-up of `"` finds; to a browser it ends the
/// attribute.
struct PageContent: MustacheContentType {
  static let name = "OTAFLASH-PAGE"

  func escapeText(_ text: String) -> String {
    let visible = VisibleWords.escaped(text)
    guard visible.utf8.contains(where: Self.isSpecial) else { return visible }
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
  /// A coordinate: a tenth of a pixel is enough.
  var pixels: String {
    let tenths = Int((self * 10).rounded())
    let (whole, rest) = tenths.quotientAndRemainder(dividingBy: 10)
    return rest == 0 ? "\(whole)" : "\(tenths < 0 ? "-" : "")\(abs(whole)).\(abs(rest))"
  }
}
#endif
