/// Every long option `--x-y` except `--help` and `--version` can also be set by `OTAFLASH_X_Y`; the
/// command line takes precedence.
package enum EnvironmentOptions {
  package static let prefix = "OTAFLASH_"
  /// The separator between several values of one option, as in PATH.
  private static let listSeparator: Character = ":"
  private static let repeatsMaximum = 3

  /// Returns the words that the environment adds to a command line, in the order of the catalog.
  package static func words(
    for path: OptionCatalog.Path, arguments: [String], environment: [String: String]
  ) -> [String] {
    (path.last.arguments ?? []).flatMap { argument -> [String] in
      guard let name = argument.longName, name != "help", name != "version",
        let value = environment[variable(name)], !value.isEmpty,
        !isGiven(argument, in: arguments)
      else { return [] }
      if argument.takesValue, argument.isRepeating ?? false {
        return ["--\(name)"] + value.split(separator: listSeparator).map(String.init)
      }
      if argument.takesValue { return ["--\(name)=\(value)"] }
      return Array(
        repeating: "--\(name)", count: count(value, isRepeating: argument.isRepeating ?? false))
    }
  }

  /// Returns the variable whose option caused an error message of the parser; `nil` if there is no
  /// such variable.
  package static func origin(of message: String, among added: [String]) -> String? {
    let blamed = added.first { word in
      guard word.hasPrefix("--") else { return false }
      let name = word.prefix { $0 != "=" }
      return message.contains("\(name) ") || message.contains("\(name)'")
    }
    return blamed.map { word in variable(String(word.prefix { $0 != "=" }.dropFirst(2))) }
  }

  package static func variable(_ longName: String) -> String {
    prefix + longName.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  /// Returns whether `value` sets a flag.
  package static func isTrue(_ value: String) -> Bool {
    !["", "0", "false", "no", "off"].contains(value.lowercased())
  }

  /// Returns the number of times that a value repeats its flag: OTAFLASH_VERBOSE=3 stands for -vvv.
  private static func count(_ value: String, isRepeating: Bool) -> Int {
    guard isTrue(value) else { return 0 }
    guard isRepeating, let times = Int(value) else { return 1 }
    return min(max(1, times), repeatsMaximum)
  }

  /// Returns whether a command line contains the option.
  package static func isGiven(_ argument: OptionCatalog.Argument, in words: [String]) -> Bool {
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
