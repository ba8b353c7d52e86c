#if Sites
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport

/// A part of a page. In a literal, the text is markup, and each inserted string is escaped:
///
/// ```swift
/// let row: HTML = "<td>\(device.label)</td>"
/// ```
struct HTML: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String

  /// Creates a part from a literal in the source code. Other strings can only be inserted, so that
  /// they are escaped.
  init(stringLiteral value: StaticString) { text = value.description }
  init(stringInterpolation: Interpolation) { text = stringInterpolation.text }
  init(_ parts: [HTML]) { text = parts.map(\.text).joined() }

  static func += (left: inout HTML, right: HTML) { left.text += right.text }

  struct Interpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) {
      text.reserveCapacity(literalCapacity + 24 * interpolationCount)
    }

    mutating func appendLiteral(_ literal: StaticString) {
      literal.withUTF8Buffer { text += String(decoding: $0, as: UTF8.self) }
    }

    mutating func appendInterpolation(_ value: String) { text += PageContent.escaped(value) }
    mutating func appendInterpolation(_ value: String?) {
      if let value { appendInterpolation(value) }
    }
    mutating func appendInterpolation(_ value: Int) { text += String(value) }
    mutating func appendInterpolation(_ value: HTML) { text += value.text }
    mutating func appendInterpolation(_ values: [HTML]) {
      for value in values { text += value.text }
    }

    /// Inserts a text of at most 80 Unicode scalars; a longer text is truncated.
    mutating func appendInterpolation(cut value: String) {
      text += PageContent.escaped(VisibleWords.escaped(value, limit: 80))
    }

    /// Inserts a number with separators, such as `12,000`.
    mutating func appendInterpolation(grouped value: Int) { text += Text.grouped(value) }

    /// Inserts a text as a part of the path of an address.
    mutating func appendInterpolation(path value: String) { text += Address.encoded(value) }

    /// Inserts a time with date and time of day in UTC.
    mutating func appendInterpolation(time moment: WallClockTime) {
      let calendar = CalendarTime(moment)
      text += "<time datetime=\"\(moment.text)\">\(calendar.dayWords), \(calendar.minutes)</time>"
    }

    mutating func appendInterpolation(clock moment: WallClockTime) {
      text += "<time datetime=\"\(moment.text)\">\(CalendarTime(moment).clock)</time>"
    }

    /// Inserts a coordinate.
    mutating func appendInterpolation(_ value: Double) { text += value.pixels }
  }
}

/// Encoding and decoding of the parts of addresses (RFC 3986).
enum Address {
  private static let digits = Array("0123456789ABCDEF".utf8)

  /// Encodes every byte that is not an unreserved character.
  static func encoded(_ text: String) -> String {
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes percent encoding; returns `nil` if the text is not valid.
  ///
  /// - Parameter isForm: whether `+` represents a space (application/x-www-form-urlencoded).
  static func decoded(_ text: some StringProtocol, isForm: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(value), let low = rest.popFirst().flatMap(value)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where isForm: bytes.append(UInt8(ascii: " "))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
#endif
