/// Every long option `--x-y` is also read from `OTAFLASH_X_Y`; the command line wins.
enum EnvironmentOptions {
  static let prefix = "OTAFLASH_"

  /// The words that the environment adds to a command line, in the order of the catalog.
  static func words(
    for path: OptionCatalog.Path, arguments: [String], environment: [String: String]
  ) -> [String] {
    (path.last.arguments ?? []).flatMap { argument -> [String] in
      guard let name = argument.longName, name != "help", name != "version",
        let value = environment[variable(name)], !value.isEmpty,
        !isGiven(argument, in: arguments)
      else { return [] }
      if argument.takesValue { return ["--\(name)=\(value)"] }
      return isTrue(value) ? ["--\(name)"] : []
    }
  }

  static func variable(_ longName: String) -> String {
    prefix + longName.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  private static func isTrue(_ value: String) -> Bool {
    !["0", "false", "no", "off"].contains(value.lowercased())
  }

  private static func isGiven(_ argument: OptionCatalog.Argument, in words: [String]) -> Bool {
    let before = words.prefix { $0 != "--" }
    return argument.tokens.contains { token in
      before.contains { word in
        word == token || word.hasPrefix(token + "=")
          || (token.count == 2 && !word.hasPrefix("--") && word.hasPrefix("-")
            && word.dropFirst().contains(token.dropFirst()))
      }
    }
  }
}
