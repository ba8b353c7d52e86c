import OtaflashConsole

@testable import OtaflashDevices

/// docs/troubleshooting.md, generated from the rows of the fault codes.
enum TroubleshootingPage {
  static let path = "docs/troubleshooting.md"

  static var text: String {
    let head = """
      # Troubleshooting, by error code

      An error states the problem, the reason, and a command that helps:

      ```
      error[E-DEVICE-NOT-FOUND]: no device with a name like 'door-01' was found
        No matching device advertised within 5 s.
        help: otaflash scan
      ```

      This page explains each code; `otaflash explain` prints the same text without a network. \
      With `--json`, the event `error` contains the code; its member `retryable` states whether \
      the same command can succeed unchanged. The manual, otaflash(1), lists the exit codes.

      | code | meaning | exit code |
      |---|---|---|
      """
    let rows = FaultCode.allCases.map { code in
      "| [\(code.rawValue)](#\(code.rawValue.lowercased())) | \(code.row.meaning) "
        + "| \(exits(of: code)) |"
    }
    let sections = FaultCode.allCases.map { code in
      (headings[code].map { "\n## \($0)\n" } ?? "") + section(on: code)
    }
    return head + "\n" + rows.joined(separator: "\n") + "\n" + sections.joined()
  }

  /// The first code of each group, and the heading of the group.
  private static let headings: [FaultCode: String] = [
    .bug: "Input", .wrongHardware: "Refused before the first byte was written",
    .deviceRefused: "The device's answers", .blockKeepsFailing: "The transfer and the link",
    .noAdapter: "Discovery and connection", .baseline: "Benchmarks",
    .campaign: "Campaigns", .state: "The host",
  ]

  private static func section(on code: FaultCode) -> String {
    let row = code.row
    let meaning = row.meaning.prefix(1).uppercased() + row.meaning.dropFirst()
    return """

      ### \(code.rawValue)

      \(meaning). Exit code \(exits(of: code)).

      **Causes.** \(row.causes)

      **Remedy.** \(row.remedy)

      """
  }

  private static func exits(of code: FaultCode) -> String {
    // In any state, the signal ends the process.
    if code == .interrupted { return "128 and the signal's number, such as 130 for Ctrl-C" }
    let codes = code.row.exits.map(\.code).sorted().map(String.init)
    return codes.count < 2
      ? codes.joined() : codes.dropLast().joined(separator: ", ") + " or " + codes[codes.count - 1]
  }
}

/// The list of codes under DIAGNOSTICS in otaflash(1).
enum ManualDiagnostics {
  static let path = "man/otaflash.1"
  static let start = ".Bl -tag -width E-UNREACHABLE-AFTER-ACTIVATION\n"
  static let end = ".El\n"

  static var text: String {
    FaultCode.allCases.map { code in
      ".It \(escaped(code.rawValue))\n"
        + Text.wrapped(code.row.meaning, columns: 78).map { escaped($0) + "\n" }.joined()
    }.joined()
  }

  /// Returns the text with each option as a macro on a separate line.
  private static func escaped(_ text: String) -> String {
    text.replacing(" --", with: "\n.Fl -").replacing("-", with: "\\-")
  }
}
