import Foundation
import Testing

/// The built program, run as a shell runs it, with a separate state directory.
final class Program {
  struct Outcome {
    /// The exit status, or the number of the signal that killed the process.
    let status: Int32
    let reason: Process.TerminationReason
    let output: String
    let errors: String

    /// The code in the message, such as `E-FILE` in `error[E-FILE]: …`.
    var code: String? {
      errors.firstMatch(of: /^error\[(E-[A-Z0-9-]+)\]/.anchorsMatchLineEndings()).map {
        String($0.1)
      }
    }
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  /// The directory for the state of the program and the files of the test.
  let home: URL

  init() throws {
    home = FileManager.default.temporaryDirectory.appending(
      path: "otaflash-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: home) } catch {
      Issue.record("\(home.path) was not removed: \(error)")
    }
  }

  /// Returns the path of the program, which is in the directory of the test bundle.
  static func path() throws -> String {
    let bundle = try #require(
      CommandLine.arguments.first { $0.hasSuffix(".xctest") }
        ?? Bundle.allBundles.map(\.bundlePath).first { $0.hasSuffix(".xctest") }
        ?? CommandLine.arguments.first)
    return URL(filePath: bundle).deletingLastPathComponent().appending(path: "otaflash").path
  }

  var environment: [String: String] {
    ["XDG_STATE_HOME": home.path, "XDG_RUNTIME_DIR": home.path, "LANG": "C.UTF-8"]
  }

  /// A placeholder for the home directory in arguments of tests, which are created before the
  /// directory.
  static let homePlaceholder = "@HOME@"

  func run(
    _ words: [String], environment more: [String: String] = [:]
  ) throws -> Outcome {
    try start(words, environment: more).end()
  }

  func start(
    _ words: [String], environment more: [String: String] = [:]
  ) throws -> RunningProgram {
    try RunningProgram(
      Program.path(), words.map { $0.replacing(Self.homePlaceholder, with: home.path) },
      environment: environment.merging(more) { $1 }, input: "")
  }

  /// Runs any other command, such as `python3`.
  static func runTool(
    _ words: [String], environment: [String: String] = [:], input: String = ""
  ) throws -> Outcome {
    try RunningProgram("/usr/bin/env", words, environment: environment, input: input).end()
  }

  /// Checks the stream of a program that ran with `--json` against its schema.
  static func checkEvents(
    of outcome: Outcome, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let check = try runTool(
      [
        "python3", "Tests/Support/check-events.py", "docs/events.schema.json", "\(outcome.status)",
      ], input: outcome.output)
    #expect(
      check.status == 0, "\(check.errors)\n\(outcome.output)", sourceLocation: sourceLocation)
  }

  /// Writes a file into the home directory and returns its path.
  func file(_ name: String, _ content: some Sequence<UInt8>, mode: Int = 0o600) throws -> String {
    let file = home.appending(path: name)
    try Data(content).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }
}

/// A running program. A test can read its output until a text appears; `end()` reads the rest of
/// the output.
final class RunningProgram {
  /// The time limit of a program, in seconds; programs of tests need less than a tenth of this
  /// time. A program that does not end is killed, so that its test fails and does not block all
  /// others.
  private static let patience = 240.0

  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private var messages = ""
  /// The part of standard output that was read before the end.
  private var results = ""
  private let guardian: DispatchWorkItem

  fileprivate init(
    _ path: String, _ words: [String], environment: [String: String], input: String
  ) throws {
    let feed = Pipe()
    process.executableURL = URL(filePath: path)
    process.arguments = words
    process.currentDirectoryURL = Program.root
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = feed
    guardian = DispatchWorkItem { [process] in
      guard process.isRunning else { return }
      Issue.record("killed after \(Self.patience) s: \(([path] + words).joined(separator: " "))")
      kill(process.processIdentifier, SIGKILL)
    }
    try process.run()
    DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: guardian)
    feed.fileHandleForWriting.write(Data(input.utf8))
    try feed.fileHandleForWriting.close()
  }

  /// Reads standard error until all texts have appeared in this order; `false` if the program ended
  /// first.
  func waitUntilItSays(_ words: String...) -> Bool {
    var unread = ""
    for word in words {
      while !unread.contains(word) {
        let part = errors.fileHandleForReading.availableData
        if part.isEmpty { return false }
        let text = String(decoding: part, as: UTF8.self)
        messages += text
        unread += text
      }
      unread = unread.firstRange(of: word).map { String(unread[$0.upperBound...]) } ?? ""
    }
    return true
  }

  /// Reads standard output until the text has appeared in the output that was not read before;
  /// `false` if the program ended first.
  func waitUntilItPrints(_ word: String) -> Bool {
    var unread = ""
    while !unread.contains(word) {
      let part = output.fileHandleForReading.availableData
      if part.isEmpty { return false }
      unread += String(decoding: part, as: UTF8.self)
      results += String(decoding: part, as: UTF8.self)
    }
    return true
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the end of the program.
  func end() -> Program.Outcome {
    results += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    messages += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guardian.cancel()
    return Program.Outcome(
      status: process.terminationStatus, reason: process.terminationReason,
      output: results, errors: messages)
  }
}
