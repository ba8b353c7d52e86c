#if Fleet
import Glibc
import OtaflashFleet
import OtaflashFleetEngine
import Subprocess
import Synchronization
import SystemPackage

/// Hooks as processes of the host. Each hook has its own process group, and its standard input is
/// empty or a file. Its output is read as it arrives and truncated here, so the hook never waits
/// for a reader.
package struct ProcessHooks: HookRunner {
  /// The time between SIGTERM and SIGKILL, each of which is sent to the complete process group.
  package static let grace = Duration.seconds(5)

  private let folder: String
  private let grace: Duration

  /// - Parameter folder: the working directory of hooks, which is the folder of the campaign file;
  ///   relative program paths are resolved against it.
  package init(in folder: String) { self.init(in: folder, grace: Self.grace) }

  init(in folder: String, grace: Duration) {
    self.folder = folder
    self.grace = grace
  }

  package func run(
    _ hook: HookCommand, environment: [String: String], timeLimit: Duration
  ) async -> HookOutcome {
    await run(hook, environment: environment, input: [], timeLimit: timeLimit)
  }

  /// Runs a command as `run(_:environment:timeLimit:)` does.
  ///
  /// - Parameter input: the content of the command's standard input.
  package func run(
    _ hook: HookCommand, environment: [String: String], input: [UInt8], timeLimit: Duration
  ) async -> HookOutcome {
    let tail = OutputTail()
    let began = ContinuousClock.now
    let file: FileDescriptor?
    do throws(Errno) { file = try input.isEmpty ? nil : HookInput.file(of: input) } catch {
      return HookOutcome(.notRun(words: "its input cannot be stored: \(error)"))
    }
    let end = await end(of: hook, environment, file, within: timeLimit, tail)
    HookInput.close(file)
    let (output, dropped) = tail.text
    return HookOutcome(
      end, output: output, dropped: dropped,
      milliseconds: began.duration(to: .now).wholeMilliseconds)
  }

  private enum Part: Sendable {
    case process(HookOutcome.End)
    case limit
  }

  private func end(
    of hook: HookCommand, _ environment: [String: String], _ input: FileDescriptor?,
    within limit: Duration, _ tail: OutputTail
  ) async -> HookOutcome.End {
    await withTaskGroup(of: Part.self, returning: HookOutcome.End.self) { group in
      group.addTask { .process(await process(hook, environment, input, tail)) }
      group.addTask {
        do { try await Task.sleep(for: limit) } catch { return .limit }
        return .limit
      }
      var (end, ranOut) = (HookOutcome.End.interrupted, false)
      for await part in group {
        switch part {
        case .limit: ranOut = !group.isCancelled
        case .process(let ended): end = ended
        }
        group.cancelAll()
      }
      return end == .interrupted && ranOut ? .timedOut : end
    }
  }

  /// Runs a process. After cancellation of the task, returns `.interrupted` when the complete
  /// process group has ended.
  private func process(
    _ hook: HookCommand, _ environment: [String: String], _ input: FileDescriptor?,
    _ tail: OutputTail
  ) async -> HookOutcome.End {
    if let input {
      return await process(
        hook, environment,
        from: FileDescriptorInput.fileDescriptor(input, closeAfterSpawningProcess: false), tail)
    }
    return await process(hook, environment, from: NoInput.none, tail)
  }

  private func process(
    _ hook: HookCommand, _ environment: [String: String], from input: some InputProtocol,
    _ tail: OutputTail
  ) async -> HookOutcome.End {
    let program = Program(hook, in: folder)
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [
      .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: grace)
    ]
    let started = Mutex<pid_t?>(nil)
    defer { if Task.isCancelled { endGroup(of: started.withLock { $0 }) } }
    do {
      let result = try await Subprocess.run(
        program.executable, arguments: program.arguments,
        environment: .inherit.updating(Self.keyed(environment)),
        workingDirectory: FilePath(folder), platformOptions: options, input: input,
        output: .sequence, error: .combinedWithOutput
      ) { execution in
        started.withLock { $0 = execution.processIdentifier.value }
        for try await part in execution.standardOutput { part.withUnsafeBytes(tail.append) }
      }
      return Task.isCancelled ? .interrupted : HookOutcome.End(result.terminationStatus)
    } catch {
      return Task.isCancelled ? .interrupted : .notRun(words: program.words(of: error, in: folder))
    }
  }

  /// Kills processes that ignored SIGTERM and outlived the first process of the group. The kernel
  /// does not reuse the number of a group that has members. If the group has no members, no process
  /// receives the signal.
  private func endGroup(of first: pid_t?) {
    if let first { kill(-first, SIGKILL) }
  }

  private static func keyed(_ environment: [String: String]) -> [Environment.Key: String?] {
    var keyed: [Environment.Key: String?] = [:]
    for (name, value) in environment {
      if let key = Environment.Key(rawValue: name) { keyed[key] = .some(value) }
    }
    return keyed
  }
}

/// The program that a hook runs.
private struct Program {
  let arguments: Arguments
  /// The name in the campaign.
  private let name: String
  /// The path; `nil` = the program is searched in PATH.
  private let path: String?

  init(_ hook: HookCommand, in folder: String) {
    switch hook {
    case .shell(let text):
      name = "/bin/sh"
      arguments = ["-c", text]
    case .words(let words):
      name = words.first ?? ""
      arguments = Arguments(Array(words.dropFirst()))
    }
    path = name.contains("/") ? name.hasPrefix("/") ? name : "\(folder)/\(name)" : nil
  }

  var executable: Executable { path.map { .path(FilePath($0)) } ?? .name(name) }

  func words(of fault: any Error, in folder: String) -> String {
    guard let fault = fault as? SubprocessError else { return "\(fault)" }
    if fault.code == .failedToChangeWorkingDirectory { return "there is no folder \(folder)" }
    if fault.underlyingError == .execFormatError {
      return "'\(name)' is not a program, and does not start with #!"
    }
    guard fault.code == .executableNotFound else { return "\(fault)" }
    guard let path, access(path, F_OK) == 0 else { return "there is no program '\(name)'" }
    guard access(path, X_OK) == 0 else { return "'\(name)' is not executable" }
    return "'\(name)' cannot be executed; check that the interpreter in its first line exists"
  }
}

extension HookOutcome.End {
  init(_ status: TerminationStatus) {
    switch status {
    case .exited(let code): self = .exited(code: Int(code))
    case .signaled(let signal): self = .killed(signal: Int(signal))
    }
  }
}
#endif
