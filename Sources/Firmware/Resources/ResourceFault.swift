/// The reason why a package of resources was rejected.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum ResourceFault: Error, Equatable, Sendable {
  /// The archive has no `resources.json`.
  case listMissing
  /// The list is larger than any real list.
  case listTooLarge(limit: Int)
  /// The list is not valid JSON; lines count from 1.
  case notJSON(line: Int, String)
  /// A required key is missing or has a value of another type; `path` leads to the key.
  case key(path: String, wanted: String)
  /// The list contains a file that is not in the archive.
  case fileMissing(String)
  /// A file of the package has no bytes.
  case fileEmpty(String)
  /// A path is not absolute, is too long, or contains a part such as `..`.
  case pathNotAllowed(String)
  /// A path occurs twice, is both a file and a folder, or is both a resource and obsolete.
  case pathRepeated(String)
}

extension ResourceFault {
  init(_ fault: ManifestFault) {
    switch fault {
    case .tooLarge(let limit): self = .listTooLarge(limit: limit)
    case .notJSON(let line, let detail): self = .notJSON(line: line, detail)
    case .key(let path, let wanted): self = .key(path: path, wanted: wanted)
    case .missing, .unknownKind, .fileMissing, .contradicted, .suit, .combination:
      self = .listMissing
    }
  }
}

extension ResourceFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .listMissing:
      "the ZIP archive has no resources.json, so it is not a package of resources"
    case .listTooLarge(let limit): "resources.json has more than \(limit) bytes"
    case .notJSON(let line, let detail): "resources.json, line \(line): \(detail)"
    case .key(let path, let wanted): "resources.json: \(path) is not \(wanted)"
    case .fileMissing(let name): "resources.json names '\(name)', which is not in the archive"
    case .fileEmpty(let name): "'\(name)' in the archive has no bytes"
    case .pathNotAllowed(let path):
      "resources.json: '\(path)' is not an absolute path of at most 160 bytes, "
        + "with names of at most 50"
    case .pathRepeated(let path): "resources.json: '\(path)' is used twice"
    }
  }
}
