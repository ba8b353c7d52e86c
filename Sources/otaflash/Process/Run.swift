/// One run of the program, from its words to its exit status.
struct Run: Sendable {
  let program: String
  let arguments: [String]
  let environment: [String: String]
  let interruption: Interruption

  func perform() async -> ExitStatus {
    switch CommandLineReading(arguments, environment: environment) {
    case .command(let command, let name): await run(command, called: name)
    case .text(let text): print(text)
    case .groupAlone(let help): refuse(help)
    case .malformed(let message, let name): refuse(message, in: name)
    }
  }

  private func run(_ command: any Subcommand, called name: String) async -> ExitStatus {
    let console = Console(
      settings: OutputSettings(command.global, in: .current(environment: environment)),
      command: name, device: command.subject.device)
    interruption.onDeath { console.restoreTerminal() }
    var session = Session(
      console: console, global: command.global,
      context: FaultContext(
        program: program, arguments: arguments, subject: command.subject),
      environment: environment, interruption: interruption)
    let ending: Ending
    do throws(CommandFault) {
      session.capture = try command.captureFile.map { path throws(CommandFault) in
        try CaptureFile(path: path)
      }
      ending = closeCapture(of: session, after: await work(command, in: session))
    } catch {
      ending = fail(error, in: session)
    }
    console.end(ending)
    if let errno = console.outputFailure { return outputFailed(errno) }
    return ending.exit
  }

  /// The command in a task of its own, which the first signal cancels.
  private func work(_ command: any Subcommand, in session: Session) async -> Ending {
    let task = Task { () async -> Result<Ending, CommandFault> in
      do throws(CommandFault) {
        return .success(try await command.perform(in: session))
      } catch {
        return .failure(error)
      }
    }
    interruption.onFirstSignal { task.cancel() }
    switch await task.value {
    case .success(let ending):
      return ending
    case .failure(let fault):
      return fail(fault, in: session)
    }
  }

  private func fail(_ fault: CommandFault, in session: Session) -> Ending {
    let report = FaultReport(fault, in: session.context).interrupted(by: interruption.signal)
    session.console.fail(report)
    return .failed(
      report.exit, outcome: interruption.signal == nil ? "failed" : "interrupted",
      device: session.context.subject.device)
  }

  /// A capture that is not complete is an error of its own, but never hides another one.
  private func closeCapture(of session: Session, after ending: Ending) -> Ending {
    do throws(CommandFault) {
      try session.capture?.close()
      return ending
    } catch {
      let report = FaultReport(error, in: session.context)
      session.console.fail(report)
      guard ending.exit == .done else { return ending }
      return Ending(exit: report.exit, outcome: ending.outcome, devices: ending.devices)
    }
  }

  // MARK: Runs that never get to a command

  private func print(_ text: String) -> ExitStatus {
    if let errno = FileOutput.standardOutput.write(text + "\n") { return outputFailed(errno) }
    return .done
  }

  private func refuse(_ help: String) -> ExitStatus {
    _ = FileOutput.standardError.write(help + "\n")
    return .usage
  }

  private func refuse(_ message: String, in name: String) -> ExitStatus {
    let asked = environment[EnvironmentOptions.variable("json")] ?? ""
    let json = arguments.contains("--json") || EnvironmentOptions.isTrue(asked)
    let settings = OutputSettings(json: json, in: .current(environment: environment))
    let console = Console(settings: settings, command: name, device: nil)
    let context = FaultContext(program: program, arguments: arguments)
    console.fail(FaultReport(.usage(message: message, command: name), in: context))
    console.end(.failed(.usage))
    return .usage
  }

  private func outputFailed(_ errno: Int32) -> ExitStatus {
    let report = FaultReport(
      .output(errno: errno), in: FaultContext(program: program, arguments: arguments))
    _ = FileOutput.standardError.write(
      "error[\(report.code.rawValue)]: \(report.what)\n  \(report.why)\n  help: \(report.help)\n")
    return report.exit
  }
}

extension FaultReport {
  /// The same end, told as the death by signal that the user asked for.
  func interrupted(by signal: Int32?) -> FaultReport {
    guard let signal else { return self }
    return FaultReport(
      .interrupted, "stopped by signal \(signal)", why: why, help: help, exit: .signal(signal),
      retryable: true)
  }
}
