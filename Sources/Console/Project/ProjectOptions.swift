/// The words that the project file adds to a command line, after those of the environment.
package struct ProjectOptions: Equatable, Sendable {
  /// The name of the option that selects a profile.
  package static let profileOption = "profile"
  /// The option that excludes requests for the link.
  private static let exclusive = "keep-link"

  /// The options, to be inserted after the name of the command.
  package private(set) var options: [String] = []
  /// The image, to be appended; `nil` if the command line names an image, the command accepts no
  /// image, or the file contains no image.
  package private(set) var image: String?
  /// The positions of the values, by the name of the option, such as `--device`.
  package private(set) var origins: [String: String] = [:]

  /// - Parameters:
  ///   - settings: the values of the file that apply.
  ///   - path: the command, whose options are supported.
  ///   - words: the command line with the words of the environment.
  package init(
    _ settings: [ProjectFile.Entry], of file: String, for path: OptionCatalog.Path,
    words: [String]
  ) {
    let device =
      Self.value(of: "device", short: "-d", in: words)
      ?? settings.first { $0.key == ProjectKey.device.rawValue }?.value
    let isOnAir = !(device?.hasPrefix("sim:") ?? false) && !(device?.hasPrefix("unix:") ?? false)
    for setting in settings {
      guard let key = ProjectKey(rawValue: setting.key) else { continue }
      guard key != .image else {
        if path.takesImage, !path.hasOperand(in: words) { image = setting.value }
        continue
      }
      let argument = path.last.arguments?.first { $0.longName == key.rawValue && $0.takesValue }
      guard let argument, !EnvironmentOptions.isGiven(argument, in: words) else { continue }
      let keepsLink = words.contains("--" + Self.exclusive)
      if key.isLinkRequest, keepsLink || !isOnAir { continue }
      let word = "--\(key.rawValue)=\(setting.value)"
      options.append(word)
      origins["--\(key.rawValue)"] = "\(file), line \(setting.line)"
    }
  }

  /// Returns the position, as text, of the value that caused an error message of the parser; `nil`
  /// if no value of the file caused the message.
  package func origin(of message: String) -> String? {
    origins.first { message.contains("\($0.key) ") || message.contains("\($0.key)'") }?.value
  }

  /// Returns the value of an option on a command line; `nil` if the command line does not contain
  /// the option.
  package static func value(of name: String, short: String? = nil, in words: [String]) -> String? {
    let before = words.prefix { $0 != "--" }
    for (index, word) in before.enumerated() {
      if word == "--\(name)" || word == short { return before.dropFirst(index + 1).first }
      if word.hasPrefix("--\(name)=") { return String(word.dropFirst(name.count + 3)) }
      if let short, word.hasPrefix(short), !word.hasPrefix("--") {
        let rest = word.dropFirst(short.count)
        return String(rest.first == "=" ? rest.dropFirst() : rest)
      }
    }
    return nil
  }
}

extension OptionCatalog.Path {
  /// The commands whose first operand is an image.
  private static let commandsWithImage = ["flash", "info"]

  fileprivate var takesImage: Bool { Self.commandsWithImage.contains(name) }

  /// Whether the command uses the project file: it has an option for the profile, and is not
  /// `simulate`.
  package var usesProject: Bool {
    name != "simulate"
      && (last.arguments ?? []).contains { $0.longName == ProjectOptions.profileOption }
  }
}
