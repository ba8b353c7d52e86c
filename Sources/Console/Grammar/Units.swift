import ArgumentParser

/// A time span on the command line, such as `500ms`, `5s`, `2m` or `1h`, from a microsecond to a
/// week.
package struct TimeSpan: Equatable, Sendable {
  package let duration: Duration

  private static let units: [(suffix: String, milliseconds: Double)] = [
    ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000),
  ]
  /// The shortest time span, a microsecond.
  private static let minimumMilliseconds = 0.001
  private static let maximumMilliseconds = 7.0 * 24 * 3_600_000

  package init(_ duration: Duration) { self.duration = duration }

  package init?(_ text: String) {
    for (suffix, scale) in Self.units where text.hasSuffix(suffix) {
      guard let number = Quantity.number(text.dropLast(suffix.count)) else { continue }
      let milliseconds = number * scale
      guard milliseconds >= Self.minimumMilliseconds,
        milliseconds <= Self.maximumMilliseconds
      else { return nil }
      duration = .microseconds(Int64(milliseconds * 1000))
      return
    }
    return nil
  }

  package static func parse(_ text: String) throws -> TimeSpan {
    guard let span = TimeSpan(text) else {
      throw ValidationError(
        "'\(text)' is not a time; write it with a unit: 500ms, 5s, 2m or 1h, from 0.001ms to 168h")
    }
    return span
  }
}

/// A number of bytes: `4096`, `256K`, `1M` (K = 1024, M = 1024 K).
package struct ByteCount: Equatable, Sendable {
  package let bytes: Int

  private static let maximum = 1 << 40

  package init?(_ text: String) {
    let scale = text.hasSuffix("K") ? 1024 : text.hasSuffix("M") ? 1024 * 1024 : 1
    let digits = scale == 1 ? text[...] : text.dropLast()
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber }),
      let number = Int(digits), number <= Self.maximum / scale
    else { return nil }
    bytes = number * scale
  }

  package static func parse(_ text: String) throws -> ByteCount {
    guard let count = ByteCount(text) else {
      throw ValidationError("'\(text)' is not a number of bytes; write 512, 256K or 1M")
    }
    return count
  }
}

/// A percentage on the command line: `90%`, up to 1000 %.
package struct Percentage: Equatable, Sendable, CustomStringConvertible {
  private static let maximum = 1000.0

  package let percent: Double

  package init(_ percent: Double) { self.percent = percent }

  package static func parse(_ text: String) throws -> Percentage {
    guard text.hasSuffix("%"), let number = Quantity.number(text.dropLast()), number > 0,
      number <= maximum
    else { throw ValidationError("'\(text)' is not a percentage; write 90%") }
    return Percentage(number)
  }

  package var share: Double { percent / 100 }
  package var description: String { Text.decimal(percent) + "%" }
}

/// A count on the command line, which consists only of digits, without a sign.
package struct WholeNumber: Equatable, Sendable, ExpressibleByArgument, ExpressibleByIntegerLiteral
{
  package let value: Int

  package init(integerLiteral value: Int) { self.value = value }

  package init?(argument: String) {
    guard let value = Quantity.whole(argument) else { return nil }
    self.value = value
  }

  package var defaultValueDescription: String { String(value) }
}

package enum Quantity {
  /// Returns a whole number; `nil` if the text contains other characters than digits.
  package static func whole(_ text: some StringProtocol) -> Int? {
    text.allSatisfy { $0.isASCII && $0.isNumber } ? Int(text) : nil
  }

  /// Returns a plain decimal number: digits, and at most one decimal point between them; `nil` for
  /// other text.
  package static func number(_ text: some StringProtocol) -> Double? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count),
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } })
    else { return nil }
    return Double(text)
  }
}
