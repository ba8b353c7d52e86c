import Foundation
import Testing

@testable import OtaflashDevices
@testable import otaflash

/// The program, the manual and the document must contain the same explanation of each error code.
@Suite struct ExplanationTests {
  @Test(arguments: FaultCode.allCases) func everyExplanationIsComplete(_ code: FaultCode) {
    let explanation = code.explanation
    #expect(explanation.meaning.first?.isLowercase == true && !explanation.meaning.hasSuffix("."))
    for text in [explanation.causes, explanation.remedy] {
      #expect(text.hasSuffix(".") && text.count > 20 && !text.contains("\n"))
      #expect(text.split(separator: "`", omittingEmptySubsequences: false).count % 2 == 1)
    }
    #expect(TroubleshootingPage.exits[code]?.isEmpty == false, "no sample ends with it")
  }

  /// `make troubleshooting` writes the page.
  @Test func thePageMatchesTheExplanations() throws {
    let page = Program.root.appending(path: TroubleshootingPage.path)
    if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil {
      try Data(TroubleshootingPage.text.utf8).write(to: page)
    }
    #expect(try String(contentsOf: page, encoding: .utf8) == TroubleshootingPage.text)
  }

  /// The list under the heading DIAGNOSTICS, without its markup.
  @Test func theManualMatchesTheExplanations() throws {
    let manual = try String(
      contentsOf: Program.root.appending(path: "man/otaflash.1"), encoding: .utf8)
    let items = manual.components(separatedBy: "\n.It E\\-").dropFirst().map { item in
      item.components(separatedBy: "\n.El")[0].replacing("\\-", with: "-")
        .replacing("\n.Fl -", with: " --").replacing("\n", with: " ")
    }
    #expect(
      items.map { "E-" + $0 }
        == FaultCode.allCases.map { "\($0.rawValue) \($0.explanation.meaning)" })
  }

  @Test(arguments: ["E-LINK-LOST", "link-lost", "Link-Lost", "e-link-lost"])
  func codesIgnoreCase(_ word: String) throws {
    #expect(try FaultCode.parse(word) == .linkLost)
  }

  @Test func aMisspelledCodeHasASuggestion() {
    #expect {
      try FaultCode.parse("link-lots")
    } throws: {
      "\($0)".contains("did you mean E-LINK-LOST?")
    }
    #expect {
      try FaultCode.parse("weather")
    } throws: {
      !"\($0)".contains("did you mean")
    }
  }

  @Test func theProgramExplainsAndListsCodes() throws {
    let program = try Program()
    let one = try program.run(["explain", "stalled"])
    #expect(one.status == 0)
    #expect(one.output.hasPrefix("E-STALLED: the device accepts no more data.\n"))
    #expect(one.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let all = try program.run(["explain"])
    #expect(all.output.split(separator: "\n").count == FaultCode.allCases.count)
    let unknown = try program.run(["explain", "linklost"])
    #expect(unknown.status == 64 && unknown.code == "E-USAGE", "\(unknown.errors)")
  }
}
