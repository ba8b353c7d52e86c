import OtaflashConsole
import OtaflashFirmware

extension ESPImage {
  /// - Parameter integrity: the result of the comparison of the image with its hash, as a word.
  func facts(holding integrity: String) -> [[String]] {
    [
      ["chip", chip.description], ["project", application.project],
      ["app version", application.versionText], ["ESP-IDF", application.frameworkVersion],
      ["secure version", String(application.secureVersion)],
      ["segments", String(segments.count)], ["hash", hasHash ? "SHA-256, \(integrity)" : "none"],
      ["signature", signature.words],
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "chip": .string(chip.description), "chip_id": .integer(Int(chip.rawValue)),
      "project": .string(application.project), "version": .string(application.versionText),
      "idf": .string(application.frameworkVersion),
      "secure_version": .integer(Int(application.secureVersion)),
      "segments": .integer(segments.count), "has_hash": .bool(hasHash), "size": .integer(size),
      "signature": .string(signature.words),
    ])
  }
}

extension ESPImage.Signature {
  fileprivate var words: String {
    switch self {
    case .none: "none"
    case .secureBoot: "Secure Boot V2"
    case .appended: "256 bytes appended"
    }
  }
}
