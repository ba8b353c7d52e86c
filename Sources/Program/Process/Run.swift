import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashState

/// One run of the program, from its arguments to its exit status.
package struct Run: Sendable {
  /// The command that groups all other commands.
  let root: any (ParsableCommand & Sendable).Type
  let program: Program.Name
  let arguments: [String]
  let environment: [String: String]
  let interruption: Interruption
  let queue: OutputQueue

  package init(
    root: any (ParsableCommand & Sendable).Type, program: Program.Name, arguments: [String],
    environment: [String: String], interruption: Interruption, queue: OutputQueue
  ) {
    self.root = root
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.interruption = interruption
    self.queue = queue
  }

  package func perform() async -> ExitStatus {
    switch CommandLineReading(
      arguments, environment: environment, projectFrom: ProjectFile.workingFolder, root: root)
    {
    case .command(let command, let name): await begin(command, called: name)
    case .unusableProject(let fault, let name): refuse(.project(fault), of: name, about: Subject())
    case .text(let text): print(text)
    case .groupAlone(let group): refuse(group)
    case .malformed(let message, let name): refuse(message, in: name)
    }
  }

  /// Replaces `-d last` with the last connected device, and an alias with its device, and then runs
  /// the command.
  private func begin(_ command: any Subcommand, called name: String) async -> ExitStatus {
    guard command.global.simulatedAir == nil || type(of: command).takesSimulatedAir else {
      return refuse(
        "'\(name)' does not support --adapter sim; scan, info and flash do, for example", in: name)
    }
    guard let deviceCommand = command as? any DeviceCommand, let device = deviceCommand.device
    else { return await run(command, called: name) }
    let found: DeviceSelector
    do throws(CommandFault) {
      found = try DeviceLookup(environment: environment).resolved(device)
    } catch {
      return refuse(error, of: name, about: command.subject)
    }
    guard found != device else { return await run(command, called: name) }
    var (words, note) = (arguments, String?.none)
    if device.kind == .last {
      words = DeviceLookup.words(arguments, naming: found.text)
      note = "the last device is \(found.text)"
    }
    var named = deviceCommand.naming(found)
    do { try named.validate() } catch { return refuse("\(error)", in: name) }
    return await Run(
      root: root, program: program, arguments: words, environment: environment,
      interruption: interruption,
      queue: queue
    ).run(named, called: name, beginning: note)
  }

  /// - Parameter note: printed before all other output.
  private func run(
    _ command: any Subcommand, called name: String, beginning note: String? = nil
  ) async -> ExitStatus {
    let console = Console(
      settings: OutputSettings(command.global.output, in: .current(environment: environment)),
      command: name, queue: queue)
    interruption.onLeaving(
      { console.restoreTerminal() }, onReturn: { console.takeTerminalBack() })
    let inputs = InputFiles(command.inputFiles, folders: stateFolders)
    let session = Session(
      console: console, updates: UpdateDisplay(on: console, device: command.subject.device),
      global: command.global,
      context: FaultContext(
        program: program.commands, caller: program.called, arguments: arguments,
        subject: command.subject, root: root),
      environment: environment, interruption: interruption, inputs: inputs,
      capture: command.captureFile.map { Capture(file: $0, inputs: inputs) })
    if let note { console.note(note) }
    let ending = closeCapture(of: session, after: await work(command, in: session))
    session.updates.end(ok: ending.exit == .done)
    console.end(ending)
    if let next = ending.next, interruption.signal == nil {
      return await Run(
        root: root, program: program, arguments: next, environment: environment,
        interruption: interruption,
        queue: queue
      ).perform()
    }
    if command.notifies, interruption.signal == nil {
      DesktopNotification(of: name, ending).send(environment: environment)
    }
    if let errno = console.outputFailure { return outputFailed(errno) }
    return ending.exit
  }

  /// The directories with state; empty if there is no state directory to protect.
  private var stateFolders: [String] {
    do throws(StateFault) {
      let directory = try StateDirectory.locate(environment: environment)
      return [
        directory.path, directory.journalPath, directory.bondsPath, directory.imagesPath,
        SimulatedDevice.folder(in: directory),
      ]
    } catch {
      return []
    }
  }

  /// Runs the command in a separate task, which the first signal cancels.
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
    // The signal may also have ended the program that provides the input.
    let isCause = if case .image = fault { interruption.signal != nil } else { false }
    let report = FaultReport(isCause ? .stopped : fault, in: session.context)
      .interrupted(by: interruption.signal)
    session.updates.end(ok: false)
    session.console.fail(report)
    return .failed(
      report.exit, outcome: interruption.signal == nil ? report.outcome : "interrupted",
      device: session.context.subject.device)
  }

  /// Closes the capture, and returns the ending of the run. An incomplete capture is an error, but
  /// does not replace another error.
  private func closeCapture(of session: Session, after ending: Ending) -> Ending {
    do throws(CommandFault) {
      try session.capture?.close()
      return ending
    } catch {
      let report = FaultReport(error, in: session.context)
      session.updates.end(ok: false)
      session.console.fail(report)
      guard ending.exit == .done else { return ending }
      return Ending(exit: report.exit, outcome: ending.outcome, devices: ending.devices)
    }
  }

  // MARK: Runs without a command

  private func print(_ text: String) -> ExitStatus {
    if let errno = FileOutput.standardOutput.write(text + "\n") { return outputFailed(errno) }
    return .done
  }

  /// Prints the available commands as text, or an error event with `--json`.
  private func refuse(_ group: CommandLineReading.Group) -> ExitStatus {
    guard !wantsJSON else { return refuse(group.complaint, in: group.name) }
    _ = FileOutput.standardError.write(group.help + "\n")
    return .usage
  }

  private func refuse(_ message: String, in name: String) -> ExitStatus {
    refuse(.usage(message: message, command: name), of: name, about: Subject())
  }

  /// Ends a run that cannot start. Needs no task, so it also works with too few resources.
  package func refuse(_ shortage: ResourceShortage) -> ExitStatus {
    switch CommandLineReading(arguments, environment: environment, root: root) {
    case .command(let command, let name):
      refuse(.shortage(shortage), of: name, about: command.subject)
    case .text, .groupAlone, .malformed, .unusableProject:
      refuse(.shortage(shortage), of: "", about: Subject())
    }
  }

  private func refuse(
    _ fault: CommandFault, of name: String, about subject: Subject
  ) -> ExitStatus {
    let settings = OutputSettings(json: wantsJSON, in: .current(environment: environment))
    let console = Console(settings: settings, command: name, queue: queue)
    let context = FaultContext(
      program: program.commands, caller: program.called, arguments: arguments, subject: subject,
      root: root)
    let report = FaultReport(fault, in: context)
    console.fail(report)
    console.end(.failed(report.exit, device: subject.device))
    return report.exit
  }

  private var wantsJSON: Bool {
    let asked = environment[EnvironmentOptions.variable("json")] ?? ""
    return arguments.contains("--json") || EnvironmentOptions.isTrue(asked)
  }

  private func outputFailed(_ errno: Int32) -> ExitStatus {
    let report = FaultReport(
      .output(errno: errno),
      in: FaultContext(
        program: program.commands, caller: program.called, arguments: arguments, root: root))
    let lines: [Line] = [
      "error[\(report.code.rawValue)]: \(report.what)", "  \(report.why)", "  help: \(report.help)",
    ]
    _ = FileOutput.standardError.write(lines.map { $0.shown + "\n" }.joined())
    return report.exit
  }
}

extension FaultReport {
  /// The value of `outcome` in the event `result`.
  fileprivate var outcome: String {
    code == .fleetRequest && exit == .refusedBeforeWriting ? "refused" : "failed"
  }

  /// Returns the report of a run that a signal ended; without a signal, the same report.
  func interrupted(by signal: Int32?) -> FaultReport {
    guard let signal else { return self }
    var report = FaultReport(
      .interrupted, "stopped by signal \(signal)", why: why, help: help, exit: .signal(signal))
    report.imageState = imageState
    return report
  }
}
