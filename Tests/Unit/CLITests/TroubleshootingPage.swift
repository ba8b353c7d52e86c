@testable import OtaflashDevices
@testable import otaflash

/// docs/troubleshooting.md, generated from the explanations and the samples of the fault codes.
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

      | code | what happened | exit |
      |---|---|---|
      """
    let rows = FaultCode.allCases.map { code in
      "| [\(code.rawValue)](#\(code.rawValue.lowercased())) | \(code.explanation.meaning) "
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
    let explanation = code.explanation
    let meaning = explanation.meaning.prefix(1).uppercased() + explanation.meaning.dropFirst()
    return """

      ### \(code.rawValue)

      \(meaning). Exit code \(exits(of: code)).

      **Why it happens.** \(explanation.causes)

      **What to do.** \(explanation.remedy)

      """
  }

  private static func exits(of code: FaultCode) -> String {
    // In any state, the signal ends the process.
    if code == .interrupted { return "128 and the signal's number, as 130 by Ctrl-C" }
    let codes = exits[code, default: []].sorted().map(String.init)
    return codes.count < 2
      ? codes.joined() : codes.dropLast().joined(separator: ", ") + " or " + codes[codes.count - 1]
  }

  /// The exit codes of the samples of each code.
  static let exits: [FaultCode: Set<Int32>] = {
    let context = FaultContext(
      program: "otaflash", arguments: ["flash", "app.hex", "-d", "name:door-01"],
      subject: Subject(device: "name:door-01", image: "app.hex"))
    return FaultSamples.commands.reduce(into: [:]) { exits, fault in
      let report = FaultReport(fault, in: context)
      exits[report.code, default: []].insert(report.exit.code)
    }
  }()
}
