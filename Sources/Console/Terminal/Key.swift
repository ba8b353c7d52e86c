/// A key that matters for a choice from a list.
package enum Key: Equatable, Sendable {
  case up, down, pageUp, pageDown, first, last
  case enter
  case escape
  /// Backspace.
  case erase
  /// A printable character of ASCII.
  case character(Character)
  /// Ctrl-C or Ctrl-D, if the terminal does not translate them, or the end of the input.
  case leave
  case other
}

/// Decodes the input of a terminal to keys (ECMA-48 control sequences, and the cursor keys of
/// xterm). An escape character is a key only if nothing follows it.
package struct KeyDecoder: Sendable {
  private static let escape: UInt8 = 0x1B
  /// The maximum length of a sequence; longer sequences are not supported keys.
  private static let sequenceMaximum = 16

  private var pending: [UInt8] = []

  /// - Returns: the keys that these bytes complete.
  package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
    var keys: [Key] = []
    for byte in bytes {
      pending.append(byte)
      if let key = completed() {
        keys.append(key)
        pending = []
      }
    }
    return keys
  }

  /// Handles a pause in the input. An escape character without further bytes was a key, not the
  /// start of a sequence.
  package mutating func pause() -> [Key] {
    defer { pending = [] }
    switch pending.count {
    case 0: return []
    case 1: return [.escape]
    default: return [.other]
    }
  }

  /// Returns the key of the pending bytes; `nil` if the sequence is incomplete.
  private func completed() -> Key? {
    guard pending[0] == Self.escape else { return Self.plain(pending[0]) }
    guard pending.count > 1 else { return nil }
    // CSI and SS3; other bytes after an escape character mean Alt with a key.
    guard pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else { return .other }
    guard pending.count > 2 else { return nil }
    let last = pending[pending.count - 1]
    guard (0x40...0x7E).contains(last) else {
      return pending.count < Self.sequenceMaximum ? nil : .other
    }
    return Self.sequence(String(decoding: pending.dropFirst(2), as: UTF8.self))
  }

  private static func plain(_ byte: UInt8) -> Key {
    switch byte {
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): .enter
    case 0x03, 0x04: .leave
    case 0x08, 0x7F: .erase
    case 0x20..<0x7F: .character(Character(UnicodeScalar(byte)))
    default: .other
    }
  }

  private static func sequence(_ text: String) -> Key {
    switch text {
    case "A": .up
    case "B": .down
    case "H", "1~", "7~": .first
    case "F", "4~", "8~": .last
    case "5~": .pageUp
    case "6~": .pageDown
    default: .other
    }
  }
}
