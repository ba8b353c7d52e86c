@testable import OtaflashDevices
@testable import otaflash

/// docs/troubleshooting.md, made of the codes' explanations and of the faults that carry them.
enum TroubleshootingPage {
  static let path = "docs/troubleshooting.md"

  static var text: String {
    let head = """
      # Troubleshooting, by error code

      An error says what happened, why, and a command that helps:

      ```
      error[E-DEVICE-NOT-FOUND]: no device with a name like 'door-01' was found
        Nothing that matches advertised within 5 s.
        help: otaflash scan
      ```

      This page tells what each code means in general, as `otaflash explain` does without a \
      network. With `--json` the code stands in the event `error`, and `retryable` there says \
      whether the same command can succeed as it is. What the exit codes mean is in the manual, \
      otaflash(1).

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

  /// The codes that the groups begin with.
  private static let headings: [FaultCode: String] = [
    .bug: "What was given", .wrongHardware: "Refused before a byte was written",
    .deviceRefused: "The device's answers", .blockKeepsFailing: "The transfer and the link",
    .noAdapter: "Finding and reaching the device", .baseline: "Benchmarks",
    .campaign: "Campaigns", .state: "This computer",
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
    // Whatever was begun, the process dies by the signal.
    if code == .interrupted { return "128 and the signal's number, as 130 by Ctrl-C" }
    let codes = exits[code, default: []].sorted().map(String.init)
    return codes.count < 2
      ? codes.joined() : codes.dropLast().joined(separator: ", ") + " or " + codes[codes.count - 1]
  }

  /// The exit codes that the samples of each code end with.
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
