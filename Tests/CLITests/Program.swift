import Foundation
import Testing

/// The built program as a shell runs it, with a state directory of its own.
final class Program {
  struct Outcome {
    /// The exit status, or the number of the signal that killed the process.
    let status: Int32
    let reason: Process.TerminationReason
    let output: String
    let errors: String

    /// `E-FILE` of `error[E-FILE]: …`.
    var code: String? {
      errors.firstMatch(of: /^error\[(E-[A-Z0-9-]+)\]/.anchorsMatchLineEndings()).map {
        String($0.1)
      }
    }
  }

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Holds the program's state, and what a test puts there.
  let home: URL

  init() throws {
    home = FileManager.default.temporaryDirectory.appending(
      path: "otaflash-\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: home) } catch {
      Issue.record("\(home.path) stays behind: \(error)")
    }
  }

  /// The program beside the test bundle.
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

  /// Stands for the home in the words of a test's arguments, which exist before the home does.
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

  /// Writes a file into the home and gives its path.
  func file(_ name: String, _ content: some Sequence<UInt8>, mode: Int = 0o600) throws -> String {
    let file = home.appending(path: name)
    try Data(content).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    return file.path
  }
}

/// A program under way. Its standard error is read as it comes, so that a test can wait for a word.
final class RunningProgram {
  /// No program of a test takes a tenth of it. One that would never end is killed, so that its test
  /// fails instead of holding up all others.
  private static let patience = 240.0

  private let process = Process()
  private let output = Pipe()
  private let errors = Pipe()
  private var told = ""
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

  /// Reads standard error until it has said all words, each behind the one before it; `false` when it
  /// ended first.
  func waitUntilItSays(_ words: String...) -> Bool {
    var unread = ""
    for word in words {
      while !unread.contains(word) {
        let part = errors.fileHandleForReading.availableData
        if part.isEmpty { return false }
        let text = String(decoding: part, as: UTF8.self)
        told += text
        unread += text
      }
      unread = unread.firstRange(of: word).map { String(unread[$0.upperBound...]) } ?? ""
    }
    return true
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the end.
  func end() -> Program.Outcome {
    let text = output.fileHandleForReading.readDataToEndOfFile()
    told += String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guardian.cancel()
    return Program.Outcome(
      status: process.terminationStatus, reason: process.terminationReason,
      output: String(decoding: text, as: UTF8.self), errors: told)
  }
}
