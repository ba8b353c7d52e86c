import Glibc

/// The output settings of a run, derived once from its options, environment and streams.
package struct OutputSettings: Equatable, Sendable {
  package enum Progress: Equatable, Sendable { case bar, plain, none }

  package var json: Bool
  package var quiet: Bool
  package var verbosity: Int
  package var progress: Progress
  package var outputStyle: Style
  package var errorStyle: Style
  /// The width of the terminal that shows results; `nil` = no terminal, so no line is changed.
  package var outputColumns: Int?
  /// The width of the terminal that shows errors and notes; `nil` = no terminal.
  package var errorColumns: Int?

  /// The properties of the streams, and the environment, from which the settings are derived.
  package struct Surroundings: Equatable, Sendable {
    package var outputIsTerminal: Bool
    package var errorIsTerminal: Bool
    package var columns: Int
    package var environment: [String: String]

    package static func current(environment: [String: String]) -> Surroundings {
      Surroundings(
        outputIsTerminal: FileOutput.standardOutput.isTerminal,
        errorIsTerminal: FileOutput.standardError.isTerminal,
        columns: FileOutput.standardError.columns, environment: environment)
    }

    fileprivate func isSet(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
    fileprivate var isDumb: Bool { environment["TERM"] == "dumb" }

    fileprivate var isUnicode: Bool {
      let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }
        .first { !$0.isEmpty }
      let name = (locale ?? "").uppercased()
      return name.contains("UTF-8") || name.contains("UTF8")
    }
  }

  package init(_ options: OutputOptions, in surroundings: Surroundings) {
    self.init(
      color: options.color, progress: options.progress, json: options.json, quiet: options.quiet,
      verbosity: options.verbose, in: surroundings)
  }

  package init(
    color: ColorChoice = .auto, progress: ProgressChoice = .auto, json: Bool = false,
    quiet: Bool = false, verbosity: Int = 0, in surroundings: Surroundings
  ) {
    self.json = json
    self.quiet = quiet
    self.verbosity = verbosity
    func paints(_ isTerminal: Bool) -> Bool {
      switch color {
      case .always: true
      case .never: false
      case .auto: isTerminal && !surroundings.isSet("NO_COLOR") && !surroundings.isDumb
      }
    }
    func style(_ isTerminal: Bool) -> Style {
      Style(
        color: paints(isTerminal), unicode: surroundings.isUnicode, columns: surroundings.columns)
    }
    outputStyle = style(surroundings.outputIsTerminal)
    errorStyle = style(surroundings.errorIsTerminal)
    outputColumns = surroundings.outputIsTerminal ? surroundings.columns : nil
    errorColumns = surroundings.errorIsTerminal ? surroundings.columns : nil
    self.progress =
      switch progress {
      case _ where json || quiet: .none
      case .bar: .bar
      case .plain: .plain
      case .none: .none
      case .auto:
        surroundings.errorIsTerminal && !surroundings.isDumb && !surroundings.isSet("CI")
          ? .bar : .plain
      }
  }
}
