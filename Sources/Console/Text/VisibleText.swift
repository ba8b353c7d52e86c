/// External text (from a device, a file, a command line) for display on a terminal. Characters that
/// control the terminal, or change the order of adjacent text, are escaped.
package enum VisibleText {
  /// Returns whether a character is hidden: a control or line break (Unicode's Cc, Zl and Zp), or a
  /// character that changes the direction of text (Bidi_Control).
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x2028, 0x2029: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// Returns the text with hidden characters escaped as in JSON: `\u001b`. Other text is unchanged,
  /// so escaping twice has no effect.
  package static func escaped(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    var shown = ""
    for scalar in text.unicodeScalars {
      if isHidden(scalar) { shown += code(scalar) } else { shown.unicodeScalars.append(scalar) }
    }
    return shown
  }

  /// Returns the width of a string in columns of a terminal.
  package static func columns(_ text: String) -> Int {
    escaped(text).reduce(0) { $0 + columns($1) }
  }

  /// Returns the width of a character in columns: two for wide characters of East Asian scripts and
  /// for pictographs (Unicode Annex 11), otherwise one.
  package static func columns(_ character: Character) -> Int {
    guard let scalar = character.unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F000...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return character.unicodeScalars.contains { $0.value == 0xFE0F } ? 2 : 1
    }
  }

  /// Returns the start of a string that fits into the columns.
  package static func prefix(_ text: String, columns room: Int) -> String {
    var rest = room
    return String(
      escaped(text).prefix { character in
        rest -= columns(character)
        return rest >= 0
      })
  }

  /// Returns the escape of a character, such as `\u001b`; all hidden characters are in the Basic
  /// Multilingual Plane.
  package static func code(_ scalar: Unicode.Scalar) -> String {
    "\\u" + Text.padded(String(scalar.value, radix: 16), 4)
  }
}
