/// A value of a package's manifest: JSON (RFC 8259), or a hexadecimal number without quotes, which
/// Zephyr's build system writes for load addresses.
enum ManifestValue: Equatable {
  case object([String: ManifestValue])
  case array([ManifestValue])
  case string(String)
  /// The number as written; `integer` parses it.
  case number(String)
  case boolean(Bool)
  case null

  /// The value of a number, or of a string that contains a number: decimal, or hexadecimal with the
  /// prefix `0x`; `nil` if the value is not an integer.
  var integer: Int? {
    switch self {
    case .number(let text), .string(let text):
      let digits = text.lowercased()
      guard !digits.contains("+") else { return nil }
      return digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits)
    case .object, .array, .boolean, .null: return nil
    }
  }

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  subscript(key: String) -> ManifestValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }
}

/// The reason why a package's manifest was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ManifestFault: Error, Equatable, Sendable {
  /// The archive has no `manifest.json`.
  case missing
  /// The manifest is larger than any real manifest.
  case tooLarge(limit: Int)
  /// The text is not valid JSON; lines count from 1.
  case notJSON(line: Int, String)
  /// The manifest is neither a Nordic DFU nor a Device Manager manifest.
  case unknownKind
  /// A required key is missing or has a value of another type; `path` leads to the key.
  case key(path: String, wanted: String)
  /// The manifest lists a file that is not in the archive.
  case fileMissing(String)
  /// The manifest contradicts a file.
  case contradicted(file: String, String)
  /// The package contains SUIT envelopes, which no protocol supports.
  case suit
  /// The manifest lists images that cannot be in one package.
  case combination(String)
}

extension ManifestFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing: "the ZIP archive has no manifest.json, so it is not a firmware package"
    case .tooLarge(let limit): "manifest.json has more than \(limit) bytes"
    case .notJSON(let line, let detail): "manifest.json, line \(line): \(detail)"
    case .unknownKind: "manifest.json is from neither a Nordic DFU package nor Device Manager"
    case .key(let path, let wanted): "manifest.json: \(path) is not \(wanted)"
    case .fileMissing(let name): "manifest.json names '\(name)', which is not in the archive"
    case .contradicted(let file, let detail): "manifest.json and '\(file)' differ: \(detail)"
    case .suit: "it is a package for SUIT (nRF54H), which is not supported"
    case .combination(let detail): "manifest.json: \(detail)"
    }
  }
}
