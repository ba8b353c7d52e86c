/// Formatted numbers for the texts of all layers.
package enum Numerals {
  /// Returns a number with a comma after each group of three digits, such as `266,112`.
  package static func grouped(_ number: Int) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { text += "," }
      text.append(digit)
    }
    return text
  }

  /// Returns a number in hexadecimal with as many digits as its type has, such as `0d` or
  /// `9f2c01aa`.
  package static func hex<Number: FixedWidthInteger & UnsignedInteger>(_ value: Number) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: Number.bitWidth / 4 - digits.count) + digits
  }

  /// Returns a time in seconds with one digit after the decimal point, such as `14.2 s`.
  package static func seconds(_ duration: Duration) -> String {
    fixed(duration / .seconds(1)) + " s"
  }

  /// Returns a number with one digit after the decimal point, such as `14.2`.
  package static func fixed(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
  }
}
