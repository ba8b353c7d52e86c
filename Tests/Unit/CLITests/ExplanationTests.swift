import Foundation
import Testing

@testable import OtaflashDevices
@testable import OtaflashProgram
@testable import otaflash

/// Tests that each error code has the same row in the program, the manual and the document.
@Suite struct ExplanationTests {
  @Test(arguments: FaultCode.allCases) func everyRowIsComplete(_ code: FaultCode) {
    let row = code.row
    #expect(row.meaning.first?.isLowercase == true && !row.meaning.hasSuffix("."))
    for text in [row.causes, row.remedy] {
      #expect(text.hasSuffix(".") && text.count > 20 && !text.contains("\n"))
      #expect(text.split(separator: "`", omittingEmptySubsequences: false).count % 2 == 1)
    }
  }

  /// A row states each exit status of its faults, and no other exit status.
  @Test func theRowsStateTheExitStatuses() {
    let context = FaultContext(
      program: "otaflash", arguments: ["flash", "app.hex", "-d", "name:door-01"],
      subject: Subject(device: "name:door-01", image: "app.hex"))
    var reports = FaultSamples.commands.map { FaultReport($0, in: context) }
    #if Sites
    reports += FaultSamples.sites.map { $0.report(in: context) }
    let codes = FaultCode.allCases
    #else
    let codes = FaultCode.allCases.filter { $0 != .sites }
    #endif
    let exits: [FaultCode: Set<Int32>] = reports.reduce(into: [:]) { exits, report in
      exits[report.code, default: []].insert(report.exit.code)
    }
    for code in codes {
      #expect(exits[code] == Set(code.row.exits.map(\.code)), "\(code)")
    }
  }

  /// `make troubleshooting` writes the page.
  @Test func thePageMatchesTheRows() throws {
    try compare(TroubleshootingPage.text, with: TroubleshootingPage.path) {
      $0.startIndex..<$0.endIndex
    }
  }

  /// `make troubleshooting` writes the list under DIAGNOSTICS.
  @Test func theManualMatchesTheRows() throws {
    try compare(ManualDiagnostics.text, with: ManualDiagnostics.path) { manual in
      let start = try #require(manual.range(of: ManualDiagnostics.start)).upperBound
      let end = try #require(manual[start...].range(of: ManualDiagnostics.end)).lowerBound
      return start..<end
    }
  }

  /// EXIT STATUS lists the exit statuses of the rows, and in addition 0, 3 and 8, which have no
  /// error code.
  @Test func theManualListsTheExitStatuses() throws {
    let manual = try String(
      contentsOf: Program.root.appending(path: ManualDiagnostics.path), encoding: .utf8)
    let list = try #require(
      manual.components(separatedBy: ".Sh EXIT STATUS\n").dropFirst().first)
    let numbers = list.components(separatedBy: ".El")[0].components(separatedBy: "\n.It ")
      .compactMap { Int32($0.prefix { $0 != "\n" }) }
    #expect(
      Set(numbers) == Set(FaultCode.allCases.flatMap(\.row.exits).map(\.code)).union([0, 3, 8]))
  }

  /// Compares a part of a document with the text. If `WRITE_DOCUMENTS` is set, first replaces this
  /// part in the file by the text.
  private func compare(
    _ text: String, with path: String, part: (String) throws -> Range<String.Index>
  ) throws {
    let file = Program.root.appending(path: path)
    var document = try String(contentsOf: file, encoding: .utf8)
    if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil {
      document.replaceSubrange(try part(document), with: text)
      try Data(document.utf8).write(to: file)
    }
    #expect(document[try part(document)] == text)
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
