import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// Explains an error code without a network.
struct Explain: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain an error code: meaning, causes and remedy.",
    discussion: "Without a code, lists all codes with their meanings.")

  @Argument(
    help: ArgumentHelp(
      "The code between 'error[' and ']', such as E-LINK-LOST, or link-lost for short.",
      valueName: "code"),
    completion: .list(FaultCode.allCases.map(\.rawValue)), transform: FaultCode.parse)
  var code: FaultCode?

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    for code in code.map({ [$0] }) ?? FaultCode.allCases {
      session.console.event("explanation", code.row.members(of: code))
    }
    // Longer lines are hard to read.
    let columns = min(FileOutput.standardOutput.columns, 80)
    if let code {
      for line in code.row.lines(of: code, columns: columns) {
        session.console.result(line)
      }
    } else {
      for line in Text.table(FaultCode.allCases.map { [$0.rawValue, $0.row.meaning] }) {
        session.console.result(line)
      }
    }
    return .done("explained")
  }
}

extension FaultCode {
  /// Parses a code in upper or lower case, with or without `E-`.
  static func parse(_ text: String) throws -> FaultCode {
    let word = text.uppercased()
    if let code = FaultCode(rawValue: word) ?? FaultCode(rawValue: "E-" + word) { return code }
    let nearest = Suggestion.nearest(
      to: word.hasPrefix("E-") ? word : "E-" + word, among: allCases.map(\.rawValue))
    throw ValidationError(
      "'\(text)' is not an error code" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}

extension FaultRow {
  func lines(of code: FaultCode, columns: Int) -> [Line] {
    let paragraphs = [
      "\(code.rawValue): \(meaning).", "", "Causes:", causes, "", "Remedy:",
      InstalledDocuments.located(in: remedy),
    ]
    return paragraphs.flatMap { Text.wrapped($0, columns: columns) }.map { Line($0) }
  }

  func members(of code: FaultCode) -> [JSONValue.Member] {
    JSONValue.fields([
      "code": .string(code.rawValue), "meaning": .string(meaning), "causes": .string(causes),
      "remedy": .string(remedy),
    ])
  }
}
