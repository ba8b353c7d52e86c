/// Untrusted text (from a device, a file) for display. Control characters, line breaks, and
/// characters that change the direction of the surrounding text are escaped.
package enum VisibleWords {
  /// Returns whether the scalar is a control or line break (Unicode Cc, Zl and Zp), changes the
  /// direction of text (Bidi_Control), or is the byte order mark.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028, 0x2029, 0xFEFF: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Returns the text with hidden scalars escaped as in JSON: `\u001b`.
  ///
  /// - Parameter limit: the maximum number of scalars before `…`; this limit counts scalars because
  ///   a letter may have many combining marks.
  package static func escaped(_ text: String, limit: Int = .max) -> String {
    let scalars = text.unicodeScalars
    if !scalars.contains(where: isHidden), scalars.count <= limit { return text }
    var shown = String.UnicodeScalarView()
    for (count, scalar) in scalars.enumerated() {
      guard count < limit else {
        shown.append("…")
        break
      }
      if isHidden(scalar) {
        let digits = String(scalar.value, radix: 16)
        let zeros = String(repeating: "0", count: 4 - digits.count)
        shown.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
      } else {
        shown.append(scalar)
      }
    }
    return String(shown)
  }
}
