import Foundation
import Testing

@testable import OtaflashProgram
@testable import otaflash

/// Tests of the commands in the documents. Each command must be valid. Commands that end without
/// an adapter, a file of the reader, or a campaign are run.
@Suite(.waitsForPrograms) struct DocumentedCommandTests {
  struct Command: CustomTestStringConvertible, Sendable {
    let document: String
    let words: [String]

    var testDescription: String { "\(document): \(words.joined(separator: " "))" }
  }

  static let documents = [
    "README.md", "Examples/README.md", "firmware-samples/README.md", "docs/commands.md",
    "docs/fleet.md", "docs/image-descriptor.md", "docs/image-formats.md", "docs/mcuboot.md",
    "docs/ota-service.md", "docs/performance.md", "docs/troubleshooting.md", "docs/your-device.md",
  ]
  /// Code that is not a command, such as the input of the OTA service's proofs.
  private static let others: Set = ["otaflash authorize"]

  static func commands() throws -> [Command] {
    try documents.flatMap { document -> [Command] in
      let text = try String(
        contentsOf: Program.root.appending(path: document), encoding: .utf8)
      let lines = Self.lines(of: text).filter { !others.contains($0) }
      var found: [Command] = []
      for (line, commands) in zip(lines, try HelpLineTests.commands(of: lines)) {
        try #require(!commands.isEmpty, "\(document): \(line)")
        for words in commands where words.first == "otaflash" {
          found.append(Command(document: document, words: Array(words.dropFirst())))
        }
      }
      return found
    }
  }

  /// Returns the lines of code blocks, and the code in sentences, that start with the name of the
  /// program.
  private static func lines(of text: String) -> [String] {
    var lines: [String] = []
    for (index, part) in text.components(separatedBy: "```").enumerated() {
      if index.isMultiple(of: 2) {
        lines += part.matches(of: /`(otaflash [^`]+)`/).map { String($0.1) }
      } else {
        lines += part.matches(of: /^(?:\$ )?(otaflash .*)$/.anchorsMatchLineEndings())
          .map { String($0.1) }
      }
    }
    return lines
  }

  @Test func everyDocumentedCommandIsValid() throws {
    let commands = try Self.commands()
    #expect(commands.count > 20)
    for command in commands {
      switch CommandLineReading(command.words, environment: [:]) {
      case .command, .text: continue
      // The command is mentioned in a sentence: "`otaflash slots` does …".
      case .groupAlone: #expect(command.words.count == 1, "\(command.testDescription)")
      // A command may consist only of its name.
      case .malformed(_, let name) where [name] == command.words: continue
      case .unusableProject(let fault, _): Issue.record("\(fault)")
      case .malformed(let message, _):
        Issue.record("\(command.testDescription): \(message)")
      }
    }
  }

  @Test func commandsWithoutRequirementsRun() throws {
    var ran = 0
    for command in try Self.commands() where Self.canRun(command) {
      let program = try Program()
      let folder = try Self.folder(for: command, in: program)
      let outcome = try Program.runTool(
        ["bash", "-c", #"cd "$1" && shift && exec "$@""#, "bash", folder, Program.path()]
          + command.words, environment: program.environment)
      let isDoctor = command.words.first == "doctor"
      #expect(
        outcome.status == 0 || isDoctor && outcome.status == 69,
        "\(command.testDescription): \(outcome.errors)")
      ran += 1
    }
    #expect(ran >= 8)
  }

  /// The names of the reader's files in the documents.
  private static let ownFiles: Set = ["app.hex", "app.zip", "IMAGE"]

  private static func canRun(_ command: Command) -> Bool {
    guard !command.words.contains(where: ownFiles.contains) else { return false }
    // A campaign takes a minute, and the other commands require its run; other tests cover
    // campaigns.
    guard command.words.first != "fleet" else { return false }
    switch CommandLineReading(command.words, environment: [:]) {
    case .text: return true
    case .groupAlone, .malformed, .unusableProject: return false
    case .command(let reading, _):
      // These commands need an adapter, or do not end without a user or a signal.
      if reading is Scan || reading is Simulate || reading is ConsoleCommand { return false }
      return reading.subject.device?.hasPrefix("sim:") ?? true
    }
  }

  /// Returns the working directory of a command: a new folder with the files that the documents
  /// mention, or, for the document of the samples, the folder of the fixtures.
  private static func folder(for command: Command, in program: Program) throws -> String {
    let files = FileManager.default
    let folder = program.home.appending(path: "work")
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
    try files.createDirectory(
      at: folder.appending(path: "docs"), withIntermediateDirectories: true)
    let fixtures = Program.root.appending(path: "Tests/Unit/FirmwareTests/Fixtures/MCUboot")
    let samples = Program.root.appending(path: "firmware-samples")
    for (name, origin) in [
      ("app.bin", fixtures.appending(path: "ed25519.bin")),
      ("old.bin", fixtures.appending(path: "ed25519-pure.bin")),
      ("pub.pem", fixtures.appending(path: "ed25519.pub.pem")),
      ("FILE", fixtures.appending(path: "ed25519.bin")), ("firmware-samples", samples),
    ] {
      try files.createSymbolicLink(
        at: folder.appending(path: name), withDestinationURL: origin)
    }
    return command.document.hasPrefix("firmware-samples")
      ? fixtures.deletingLastPathComponent().path : folder.path
  }
}
