import OtaflashConsole
import OtaflashDelta

extension PatchFile {
  /// All known facts of a patch, one row each.
  package var facts: [[String]] {
    var rows = [["holds", name + ": not firmware"]]
    if let patch {
      rows.append(["patch", "\(patch.kind.name), \(patch.compression.words)"])
      rows.append(["makes", Text.grouped(patch.imageSize) + " B"])
      if patch.hasDataFormat { rows.append(["data format", "yes: few devices support it"]) }
    } else {
      rows.append(["patch", "damaged, or of an unknown kind"])
    }
    if let baseDigest { rows.append(["base sha256", Text.hex(baseDigest)]) }
    return rows
  }

  package var json: JSONValue {
    let fields: [JSONValue.Member] =
      if let patch {
        JSONValue.fields([
          "kind": .string(patch.kind.name), "makes": .integer(patch.imageSize),
          "data_format": .bool(patch.hasDataFormat),
        ]) + patch.compression.members
      } else {
        []
      }
    return .object(
      JSONValue.fields([
        "wrapping": .string(baseDigest == nil ? "none" : "esp_delta_ota"),
        "base_sha256": baseDigest.map { .string(Text.hex($0)) },
      ]) + fields)
  }
}

extension PatchDescription.Compression {
  fileprivate var words: String {
    switch self {
    case .known(let codec): codec.words
    case .foreign(let name): name
    }
  }

  fileprivate var members: [JSONValue.Member] {
    switch self {
    case .known(let codec): codec.members
    case .foreign(let name): JSONValue.fields(["codec": .string(name)])
    }
  }
}

extension PatchCodec {
  /// The compression as text, such as `heatshrink 10,8`.
  package var words: String { self == .none ? "not compressed" : description }

  /// The name of the compression in detools or of format 2, and the two parameters of heatshrink.
  package var members: [JSONValue.Member] {
    switch self {
    case .none: JSONValue.fields(["codec": "none"])
    case .crle: JSONValue.fields(["codec": "crle"])
    case .range: JSONValue.fields(["codec": "mapped-range"])
    case .heatshrink(let parameters), .mapped(let parameters):
      JSONValue.fields([
        "codec": isMapped ? "mapped-heatshrink" : "heatshrink",
        "window": .integer(parameters.window),
        "lookahead": .integer(parameters.lookahead),
      ])
    }
  }
}
