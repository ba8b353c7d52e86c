#if Fleet
import OtaflashFleet
import Subprocess
import SystemPackage

/// A program that runs in the foreground, so it can ask the user for a passphrase. Unlike a hook,
/// it stays in the process group of the terminal, and its output goes to standard error.
package struct ForegroundProgram: Sendable {
  private let words: [String]
  private let timeLimit: Duration

  /// - Parameters:
  ///   - words: the name of a program in PATH, and its arguments.
  ///   - timeLimit: the time limit, which includes the time to type a passphrase.
  package init(_ words: [String], timeLimit: Duration) {
    self.words = words
    self.timeLimit = timeLimit
  }

  /// Runs the program until it ends.
  ///
  /// - Parameter mayAsk: whether the program may use the terminal. Otherwise it has no input and no
  ///   controlling terminal.
  package func run(mayAsk: Bool) async -> HookOutcome.End {
    await withTaskGroup(of: HookOutcome.End.self, returning: HookOutcome.End.self) { group in
      group.addTask {
        guard mayAsk else { return await process(input: .none, isDetached: true) }
        let input = FileDescriptorInput.fileDescriptor(
          .standardInput, closeAfterSpawningProcess: false)
        return await process(input: input, isDetached: false)
      }
      group.addTask { [timeLimit] in
        do { try await Task.sleep(for: timeLimit) } catch { return .interrupted }
        return .timedOut
      }
      let first = await group.next() ?? .interrupted
      group.cancelAll()
      return first
    }
  }

  private func process(
    input: some InputProtocol, isDetached: Bool
  ) async -> HookOutcome.End {
    var options = PlatformOptions()
    options.createSession = isDetached
    options.teardownSequence = [
      .gracefulShutDown(allowedDurationToNextStep: ProcessHooks.grace)
    ]
    do {
      let result = try await Subprocess.run(
        .name(words[0]), arguments: Arguments(Array(words.dropFirst())), platformOptions: options,
        input: input, output: .currentStandardError, error: .currentStandardError)
      return Task.isCancelled ? .interrupted : HookOutcome.End(result.terminationStatus)
    } catch {
      guard !Task.isCancelled else { return .interrupted }
      let isMissing = (error as? SubprocessError)?.code == .executableNotFound
      return .notRun(words: isMissing ? "there is no program '\(words[0])'" : "\(error)")
    }
  }
}
#endif
