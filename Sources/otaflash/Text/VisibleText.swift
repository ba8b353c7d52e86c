/// Text of others (a device, a file, a command line) as a terminal may show it: what would steer
/// the terminal, or turn the order of what stands beside it, is written out.
enum VisibleText {
  /// Controls and line breaks (Unicode's Cc, Zl and Zp), and what changes the direction of text
  /// (Bidi_Control).
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The text with each of these as JSON writes it: `\u001b`. Text without them stays as it is, so
  /// escaping twice changes nothing.
  static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) { shown += code(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// `\u001b`; none of the hidden ones lies outside the first plane.
  static func code(_ scalar: Unicode.Scalar) -> String {
    "\\u" + Text.padded(String(scalar.value, radix: 16), 4)
  }
}
