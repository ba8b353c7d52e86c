import Foundation
import Testing

@testable import otaflash

/// Runs the built program, as a shell would.
@Suite struct ProgramTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private struct Outcome {
    let status: Int32
    let output: String
    let errors: String
  }

  private static func run(
    _ command: String, _ words: [String], environment: [String: String] = [:],
    input: String = ""
  ) throws -> Outcome {
    let process = Process()
    let output = Pipe()
    let errors = Pipe()
    let feed = Pipe()
    process.executableURL = URL(filePath: command)
    process.arguments = words
    process.currentDirectoryURL = root
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = feed
    try process.run()
    feed.fileHandleForWriting.write(Data(input.utf8))
    try feed.fileHandleForWriting.close()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let noise = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: String(decoding: noise, as: UTF8.self))
  }

  /// The program beside the test bundle.
  private static func program() throws -> String {
    let bundle = try #require(
      CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        ?? Bundle.allBundles.map(\.bundlePath).first { $0.hasSuffix(".xctest") }
        ?? CommandLine.arguments.first)
    return URL(filePath: bundle).deletingLastPathComponent().appending(path: "otaflash").path
  }

  private static func otaflash(_ words: [String], state: String) throws -> Outcome {
    try run(
      program(), words,
      environment: ["XDG_STATE_HOME": state, "XDG_RUNTIME_DIR": state, "LANG": "C.UTF-8"])
  }

  private static func withState<T>(_ body: (String) throws -> T) throws -> T {
    let path = FileManager.default.temporaryDirectory.appending(
      path: "otaflash-\(UInt64.random(in: 0 ... .max))"
    ).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer {
      #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: path) }
    }
    return try body(path)
  }

  static let lines: [([String], Int32)] = [
    (["--version"], 0), (["flash", "--help"], 0), ([], 64), (["image"], 64), (["flsh"], 64),
    (["flash", "--bogus"], 64), (["flash", "nofile", "-d", "sim:"], 66),
    (["image", "info", "firmware-samples"], 66),
    (["image", "verify", "firmware-samples/app-1.3.0.bin"], 0),
    (["image", "verify", "firmware-samples/damaged-1.4.0.hex"], 65),
    (["image", "verify", "--crc32", "00000000", "firmware-samples/app-1.3.0.bin"], 65),
    (["flash", "firmware-samples/app-1.3.0.bin", "-d", "unix:/nonexistent.sock"], 69),
    (["flash", "firmware-samples/other-board-2.0.0.bin", "-d", "sim:fast"], 5),
    (["completion", "fish"], 0),
  ]

  @Test(arguments: lines)
  func exitCodesAreThoseOfTheManual(_ words: [String], _ status: Int32) throws {
    try Self.withState { state in
      let outcome = try Self.otaflash(words, state: state)
      #expect(outcome.status == status, "\(outcome.errors)")
    }
  }

  @Test(arguments: [
    ["devices"], ["doctor"], ["flash", "nofile", "-d", "sim:"], ["flsh"], ["flash"],
    ["image", "info", "firmware-samples/app-1.3.0.bin"], ["simulate", "--reset"],
    ["info", "-d", "sim:fast"],
    [
      "flash", "firmware-samples/blink-1.0.0.bin", "-d", "sim:fast", "--allow-downgrade", "--mode",
      "without-response",
    ],
  ])
  func everyStreamObeysItsRulesAndTheSchema(_ words: [String]) throws {
    try Self.withState { state in
      let outcome = try Self.otaflash(words + ["--json"], state: state)
      let check = try Self.run(
        "/usr/bin/env",
        ["python3", "Tests/check-events.py", "docs/events.schema.json", "\(outcome.status)"],
        input: outcome.output)
      #expect(check.status == 0, "\(check.errors)\n\(outcome.output)")
    }
  }

  @Test func theManualIsThatOfTheGrammar() throws {
    let check = try Self.run(
      "/usr/bin/env", ["python3", "man/generate", Self.program(), "--check"])
    #expect(check.status == 0, "\(check.errors)")
    let overview = try String(
      contentsOf: Self.root.appending(path: "man/otaflash.1"), encoding: .utf8)
    for code in FaultCode.allCases {
      let name = code.rawValue.replacing("-", with: "\\-")
      #expect(overview.contains(".It \(name)\n"), "\(code.rawValue)")
    }
  }
}
