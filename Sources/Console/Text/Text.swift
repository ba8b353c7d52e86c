import OtaflashNumerals

/// Formats numbers, durations and rates, decodes hexadecimal digits, and wraps text into lines.
package enum Text {
  /// Returns a text such as `266,112`.
  package static func grouped(_ number: Int) -> String { Numerals.grouped(number) }

  /// Returns a text such as `9f2c01aa`.
  package static func hex(_ value: UInt32) -> String { Numerals.hex(value) }
  /// Returns a text such as `a001`.
  package static func hex(_ value: UInt16) -> String { Numerals.hex(value) }
  /// Returns a text such as `60f8bf3f`.
  package static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { padded(String($0, radix: 16), 2) }.joined()
  }
  /// Returns a text such as `0x0d`.
  package static func hex(_ value: UInt8) -> String { "0x" + Numerals.hex(value) }

  /// Returns the bytes of pairs of hexadecimal digits; `nil` for other text.
  package static func bytes(hex digits: String) -> [UInt8]? {
    guard digits.utf8.count.isMultiple(of: 2), digits.allSatisfy(\.isHexDigit) else { return nil }
    var bytes: [UInt8] = []
    var rest = digits[...]
    while !rest.isEmpty {
      guard let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  /// Returns a text such as `0.8 s` or `14.2 s`.
  package static func seconds(_ duration: Duration) -> String { Numerals.seconds(duration) }

  /// Returns a number of seconds, such as `14.250000`.
  package static func microseconds(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    return "\(seconds)." + padded(String(attoseconds / 1_000_000_000_000), 6)
  }

  /// Returns a text such as `32.9 kB/s`.
  package static func rate(_ bytesPerSecond: Double) -> String {
    fixed(bytesPerSecond / 1000) + " kB/s"
  }

  /// Returns a text such as `0:04` or `1:02:03`.
  package static func clock(_ duration: Duration) -> String {
    let all = Int(duration.inSeconds.rounded(.up))
    let (hours, minutes, seconds) = (all / 3600, all / 60 % 60, all % 60)
    let tail = padded(String(seconds), 2)
    return hours > 0 ? "\(hours):\(padded(String(minutes), 2)):\(tail)" : "\(minutes):\(tail)"
  }

  /// Returns a text such as `1 device` or `1,200 devices`.
  package static func counted(_ number: Int, _ noun: String) -> String {
    "\(grouped(number)) \(noun)" + (number == 1 ? "" : "s")
  }

  /// Returns the number with one digit after the decimal point.
  package static func fixed(_ value: Double) -> String { Numerals.fixed(value) }

  /// Returns the number without trailing zeros, such as `15` or `7.5`.
  package static func decimal(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
  }

  package static func padded(_ digits: String, _ count: Int) -> String {
    String(repeating: "0", count: max(0, count - digits.count)) + digits
  }

  /// Returns lines of at most `columns` characters, wrapped at spaces. A longer word occupies a
  /// separate line.
  package static func wrapped(_ text: String, columns: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty {
        lines[lines.count - 1] = String(word)
      } else if line.count + 1 + word.count <= columns {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension Duration {
  package var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }

  package var inMilliseconds: Int {
    Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
  }
}
