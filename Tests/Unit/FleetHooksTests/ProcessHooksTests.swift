#if Fleet
import Foundation
import OtaflashFleet
import Testing

@testable import OtaflashFleetHooks

/// Tests with real processes. No hook may hang, fill the memory, or continue to run after its test.
@Suite struct ProcessHooksTests {
  static let grace = Duration.milliseconds(300)
  static let ample = Duration.seconds(120)

  /// A folder that is removed with its test.
  final class Folder: Sendable {
    let url: URL

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "hooks-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
      do { try FileManager.default.removeItem(at: url) } catch { print("not removed: \(error)") }
    }

    func write(_ name: String, _ text: String, mode: Int) throws {
      let path = url.appending(path: name).path
      try Data(text.utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
  }

  static func run(
    _ hook: HookCommand, in folder: String = "/tmp", environment: [String: String] = [:],
    limit: Duration = ample
  ) async -> HookOutcome {
    await ProcessHooks(in: folder, grace: grace)
      .run(hook, environment: environment, timeLimit: limit)
  }

  @Test func aListOfWordsRunsWithoutAShell() async {
    let outcome = await Self.run(.words(["printf", "%s|", "a b", "$HOME", "*"]))
    #expect(outcome.isSuccess && outcome.output == "a b|$HOME|*|" && outcome.dropped == 0)
  }

  @Test func aTextRunsInTheShell() async throws {
    let folder = try Folder()
    let outcome = await Self.run(
      .shell("echo \"$OTAFLASH_HOOK_DEVICE\"; pwd; echo wrong >&2; exit 3"), in: folder.url.path,
      environment: ["OTAFLASH_HOOK_DEVICE": "C0:FF:EE"])
    #expect(outcome.end == .exited(code: 3))
    #expect(outcome.output == "C0:FF:EE\n\(folder.url.path)\nwrong\n")
    #expect(outcome.words == "exited with code 3: wrong")
  }

  /// A report of many devices is larger than a pipe can hold, and a hook need not read it.
  @Test func theInputIsAFileThatNeedNotBeRead() async {
    let input = Array(repeating: UInt8(ascii: "x"), count: 3_000_000)
    let hooks = ProcessHooks(in: "/tmp", grace: Self.grace)
    for (text, output) in [("wc -c", "3000000\n"), ("head -c 3", "xxx"), ("echo done", "done\n")] {
      let outcome = await hooks.run(
        .shell(text), environment: [:], input: input, timeLimit: Self.ample)
      #expect(outcome.isSuccess && outcome.output == output, "\(outcome)")
    }
  }

  @Test func aRelativePathStartsAtTheFolder() async throws {
    let folder = try Folder()
    try folder.write("hook", "#!/bin/sh\necho here $1\n", mode: 0o755)
    #expect(await Self.run(.words(["./hook", "x"]), in: folder.url.path).output == "here x\n")
  }

  @Test func standardInputIsEmpty() async {
    let outcome = await Self.run(.shell("read -r line; echo \"$?\""))
    #expect(outcome.output == "1\n")
  }

  @Test func theSignalThatEndedAHookIsReported() async {
    #expect(await Self.run(.shell("kill -9 $$")).end == .killed(signal: 9))
  }

  // MARK: Time

  @Test func aHookEndsAtItsTimeLimit() async {
    let outcome = await Self.run(.words(["sleep", "3600"]), limit: .milliseconds(200))
    #expect(outcome.end == .timedOut)
    #expect(outcome.milliseconds < 3_000_000)
  }

  @Test func aHookThatIgnoresTheSignalIsKilled() async {
    let outcome = await Self.run(
      .shell("trap '' TERM; echo began; while :; do sleep 0.05; done"), limit: .milliseconds(300))
    #expect(outcome.end == .timedOut && outcome.output == "began\n")
    #expect(outcome.milliseconds >= 600)
  }

  /// The shell ends at the first signal. The process that it started ignores the signal, and must
  /// be killed nevertheless.
  @Test func theTimeLimitEndsTheCompleteProcessGroup() async throws {
    let outcome = await Self.run(
      .shell("(trap '' TERM; while :; do sleep 0.05; done) & echo $!; wait"),
      limit: .milliseconds(300))
    #expect(outcome.end == .timedOut)
    let child = try #require(Int32(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(await Self.isGone(child))
  }

  /// Returns whether the process ends within 2 s. A process that has not been reaped counts as
  /// ended.
  static func isGone(_ process: Int32) async -> Bool {
    for _ in 0..<100 {
      guard let state = state(of: process), state != "Z" else { return true }
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return false }
    }
    return false
  }

  /// Returns the state of a process (the third field of stat, proc(5), after the name in
  /// parentheses).
  private static func state(of process: Int32) -> Substring? {
    do {
      let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      return text.split(separator: ")").last?.split(separator: " ").first
    } catch {
      return nil
    }
  }

  @Test func aClosedOutputDoesNotEndAHook() async {
    let outcome = await Self.run(
      .shell("exec >&- 2>&-; sleep 3600"), limit: .milliseconds(200))
    #expect(outcome.end == .timedOut && outcome.milliseconds < 3_000_000)
  }

  @Test func anInterruptedHookLeavesNoProcessRunning() async throws {
    let folder = try Folder()
    let path = folder.url.path
    let task = Task {
      await Self.run(.shell("echo $$ > pid; sleep 60 & wait"), in: path)
    }
    let file = folder.url.appending(path: "pid").path
    var text: String?
    while text?.last != "\n" {
      try await Task.sleep(for: .milliseconds(20))
      if FileManager.default.fileExists(atPath: file) {
        text = try String(contentsOfFile: file, encoding: .utf8)
      }
    }
    task.cancel()
    #expect(await task.value.end == .interrupted)
    let process = try #require(Int32(text?.dropLast() ?? ""))
    #expect(await Self.isGone(process))
  }

  // MARK: Output

  @Test func outputIsLimitedAndItsEndIsKept() async {
    let outcome = await Self.run(.shell("head -c 5000000 /dev/zero | tr '\\0' x; echo end"))
    #expect(outcome.isSuccess)
    #expect(outcome.output.utf8.count == HookOutcome.outputMaximum)
    #expect(outcome.output.hasSuffix("xend\n"))
    #expect(outcome.dropped == 5_000_004 - HookOutcome.outputMaximum)
  }

  @Test func aTruncatedCharacterIsDroppedCompletely() async {
    // The characters have 3 bytes each, so the cut is within a character.
    let outcome = await Self.run(
      .shell("i=0; while [ $i -lt 2000 ]; do printf €; i=$((i+1)); done"))
    #expect(Set(outcome.output) == ["€"])
    #expect(outcome.output.utf8.count + outcome.dropped == 6000)
  }

  @Test func bytesThatAreNotTextAreReplaced() async {
    #expect(await Self.run(.shell("printf 'a\\377b'")).output == "a\u{FFFD}b")
  }

  /// The hook has ended; another process that keeps its output open is ignored.
  @Test func aGrandchildWithTheOpenPipeCausesNoDelay() async {
    let outcome = await Self.run(.shell("sleep 1000 & echo begun"))
    #expect(outcome.isSuccess && outcome.output == "begun\n")
    #expect(outcome.milliseconds < 900_000)
  }

  // MARK: Programs that cannot run

  @Test func aMissingProgramIsReported() async throws {
    let folder = try Folder()
    for words in [["no-such-program-at-all"], [folder.url.path + "/none"], ["./no-such"]] {
      let outcome = await Self.run(.words(words))
      #expect(outcome.end == .notRun(words: "there is no program '\(words[0])'"))
      #expect(outcome.words == "could not be started: there is no program '\(words[0])'")
    }
  }

  @Test func aFileThatIsNotExecutableIsReported() async throws {
    let folder = try Folder()
    try folder.write("hook", "#!/bin/sh\n", mode: 0o644)
    let outcome = await Self.run(.words(["./hook"]), in: folder.url.path)
    #expect(outcome.end == .notRun(words: "'./hook' is not executable"))
  }

  @Test func aFileThatIsNotAProgramIsReported() async throws {
    let folder = try Folder()
    try folder.write("hook", "echo\n", mode: 0o755)
    let outcome = await Self.run(.words(["./hook"]), in: folder.url.path)
    #expect(outcome.end == .notRun(words: "'./hook' is not a program, and does not start with #!"))
  }

  @Test func aScriptWithAMissingInterpreterIsReported() async throws {
    let folder = try Folder()
    try folder.write("hook", "#!\(folder.url.path)/none\n", mode: 0o755)
    let outcome = await Self.run(.words(["./hook"]), in: folder.url.path)
    #expect(outcome.words.contains("check that the interpreter in its first line exists"))
  }

  @Test func aMissingFolderIsReported() async throws {
    let folder = try Folder()
    let path = folder.url.path + "/none"
    let outcome = await Self.run(.words(["true"]), in: path)
    #expect(outcome.end == .notRun(words: "there is no folder \(path)"))
  }

  @Test func manyHooksRunConcurrently() async {
    let outcomes = await withTaskGroup(of: HookOutcome.self) { group in
      for index in 0..<40 { group.addTask { await Self.run(.shell("echo \(index)")) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.allSatisfy { $0.isSuccess })
    #expect(Set(outcomes.map(\.output)).count == 40)
  }
}
#endif
