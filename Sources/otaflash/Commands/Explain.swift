import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// What an error's code says, where no network is to ask.
struct Explain: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say what an error's code means, why it happens, and what to do.",
    discussion: "Without a code, all codes are listed with their meanings.")

  @Argument(
    help: ArgumentHelp(
      "What stands between 'error[' and ']', such as E-LINK-LOST; link-lost does, too.",
      valueName: "code"),
    completion: .list(FaultCode.allCases.map(\.rawValue)), transform: FaultCode.parse)
  var code: FaultCode?

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    for code in code.map({ [$0] }) ?? FaultCode.allCases {
      session.console.event("explanation", code.explanation.members(of: code))
    }
    // No wider than is good to read.
    let columns = min(FileOutput.standardOutput.columns, 80)
    if let code {
      for line in code.explanation.lines(of: code, columns: columns) {
        session.console.result(line)
      }
    } else {
      for line in Text.table(FaultCode.allCases.map { [$0.rawValue, $0.explanation.meaning] }) {
        session.console.result(line)
      }
    }
    return .done("explained")
  }
}

extension FaultCode {
  /// A code in any letters, with or without `E-`.
  static func parse(_ text: String) throws -> FaultCode {
    let word = text.uppercased()
    if let code = FaultCode(rawValue: word) ?? FaultCode(rawValue: "E-" + word) { return code }
    let nearest = Suggestion.nearest(
      to: word.hasPrefix("E-") ? word : "E-" + word, among: allCases.map(\.rawValue))
    throw ValidationError(
      "'\(text)' is no code of an error" + (nearest.map { "; did you mean \($0)?" } ?? ""))
  }
}

extension FaultExplanation {
  func lines(of code: FaultCode, columns: Int) -> [Line] {
    let paragraphs = [
      "\(code.rawValue): \(meaning).", "", "Why it happens:", causes, "", "What to do:", remedy,
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
