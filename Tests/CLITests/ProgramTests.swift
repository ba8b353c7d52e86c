import Foundation
import Testing

@testable import otaflash

/// Runs the built program, as a shell would.
@Suite struct ProgramTests {
  static let lines: [([String], Int32)] = [
    (["--version"], 0), (["flash", "--help"], 0), ([], 64), (["image"], 64), (["flsh"], 64),
    (["flash", "--bogus"], 64), (["flash", "nofile", "-d", "sim:"], 66),
    (["image", "info", "firmware-samples"], 66),
    (["image", "verify", "firmware-samples/app-1.3.0.bin"], 0),
    (["image", "verify", "firmware-samples/damaged-1.4.0.hex"], 65),
    (["image", "verify", "--crc32", "00000000", "firmware-samples/app-1.3.0.bin"], 65),
    (["flash", "firmware-samples/app-1.3.0.bin", "-d", "unix:/nonexistent.sock"], 69),
    (["flash", "firmware-samples/other-board-2.0.0.bin", "-d", "sim:fast"], 5),
    (["completion", "fish"], 0), (["info", "-d", "sim:fast?security=authenticated"], 0),
    (["info", "-d", "sim:fast", "--capture", "/dev/full"], 73),
    (["info", "-d", "sim:fast", "--capture", "/nonexistent/file"], 73),
    (["unpair", "-d", "name:door"], 64),
  ]

  @Test(arguments: lines)
  func exitCodesAreThoseOfTheManual(_ words: [String], _ status: Int32) throws {
    let outcome = try Program().run(words)
    #expect(outcome.status == status, "\(outcome.errors)")
  }

  @Test(arguments: [
    ["devices"], ["doctor"], ["flash", "nofile", "-d", "sim:"], ["flsh"], ["flash"],
    ["image", "info", "firmware-samples/app-1.3.0.bin"], ["simulate", "--reset"],
    ["info", "-d", "sim:fast"], ["info", "firmware-samples/app-1.3.0.bin", "-d", "sim:fast"],
    ["info", "firmware-samples/other-board-2.0.0.bin", "-d", "sim:fast"],
    ["info", "firmware-samples/app-1.2.0.bin", "-d", "sim:fast"],
    [
      "flash", "firmware-samples/blink-1.0.0.bin", "-d", "sim:fast", "--allow-downgrade", "--mode",
      "without-response",
    ],
  ])
  func everyStreamObeysItsRulesAndTheSchema(_ words: [String]) throws {
    let outcome = try Program().run(words + ["--json"])
    let check = try Program.runTool(
      ["python3", "Tests/check-events.py", "docs/events.schema.json", "\(outcome.status)"],
      input: outcome.output)
    #expect(check.status == 0, "\(check.errors)\n\(outcome.output)")
  }

  @Test func theManualIsThatOfTheGrammar() throws {
    let check = try Program.runTool(["python3", "man/generate", Program.path(), "--check"])
    #expect(check.status == 0, "\(check.errors)")
    let overview = try String(
      contentsOf: Program.root.appending(path: "man/otaflash.1"), encoding: .utf8)
    for code in FaultCode.allCases {
      let name = code.rawValue.replacing("-", with: "\\-")
      #expect(overview.contains(".It \(name)\n"), "\(code.rawValue)")
    }
  }
}
