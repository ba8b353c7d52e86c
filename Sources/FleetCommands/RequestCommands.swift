#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore

/// A command that sends a request to a run, whether or not a process is working on the run.
protocol RequestCommand: Subcommand {
  var runName: String? { get }
  var command: OperatorCommand { get }
  var person: OperatorOptions { get }
  /// Returns the question that the user must confirm before the request is sent to a run; `nil` =
  /// no question.
  ///
  /// - Parameter run: the name of the run.
  func question(about run: String) -> String?
  /// Returns the lines that report the result.
  func lines(for followed: FleetRequest.Followed) -> [String]
}

extension RequestCommand {
  static var words: String { "fleet " + (configuration.commandName ?? "") }

  func question(about run: String) -> String? { nil }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let request = FleetRequest(command, by: person, session: session)
    let followed = try await request.put(for: runName, asking: question)
    for line in lines(for: followed) { session.console.result(line) }
    if followed.continues, !followed.isActive {
      session.console.result("next:   " + followed.continuation(in: session))
    }
    return .done("done")
  }
}

struct FleetPauseCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause a run; updates in progress are completed.")

  @OptionGroup var option: RunOption
  @OptionGroup var person: OperatorOptions
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var command: OperatorCommand { .pause }

  func lines(for followed: FleetRequest.Followed) -> [String] {
    ["\(followed.name): paused; no further updates start"]
  }
}

struct FleetResumeCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume",
    abstract: "Resume a paused run, and approve a wave that waits for approval.")

  @OptionGroup var option: RunOption
  @OptionGroup var person: OperatorOptions
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var command: OperatorCommand { .resume }

  func lines(for followed: FleetRequest.Followed) -> [String] {
    let wave = followed.run.currentWave.map { followed.run.waves[$0] }
    guard let wave, wave.phase == .awaitingApproval || wave.phase == .judged else {
      return ["\(followed.name): resumed"]
    }
    return ["\(followed.name): wave \(wave.name) is approved"]
  }
}

struct FleetCancelCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel a run; updates in progress end at a safe point.",
    discussion: "Asks for confirmation; --yes confirms in advance.")

  @OptionGroup var option: RunOption
  @OptionGroup var person: OperatorOptions
  @OptionGroup var global: GlobalOptions

  var runName: String? { option.run }
  var command: OperatorCommand { .cancel }

  func question(about run: String) -> String? {
    "Cancel \(run)? It cannot be continued afterwards."
  }

  func lines(for followed: FleetRequest.Followed) -> [String] {
    [
      followed.isActive
        ? "\(followed.name): cancelled; updates in progress end at a safe point"
        : "\(followed.name): cancelled"
    ]
  }
}

struct FleetRetryCommand: RequestCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Retry the given devices, or all devices that were not updated.",
    discussion: "Prints the devices and the command that retries them.")

  @Argument(help: "The run, by the first characters of its name.")
  var run: String

  @Argument(help: "Devices by id, name or alias.")
  var devices: [String] = []

  @OptionGroup var person: OperatorOptions
  @OptionGroup var global: GlobalOptions

  var runName: String? { run }
  var command: OperatorCommand { .retry(devices) }

  /// The maximum number of device names to print; a run may have thousands of devices.
  private static let namedMaximum = 10

  func lines(for followed: FleetRequest.Followed) -> [String] {
    let devices = FleetRules.devicesToRetry(followed.command, in: followed.run)
    let names = devices.prefix(Self.namedMaximum).map { $0.device.name ?? $0.device.id }
    let more = devices.count - names.count
    let count = Text.counted(devices.count, "device")
    return [
      followed.isActive
        ? "\(followed.name): the process that works on the run tries \(count) again"
        : "\(followed.name): to try \(count) again, run the command below",
      "  " + names.joined(separator: ", ") + (more > 0 ? " and \(Text.grouped(more)) more" : ""),
    ]
  }
}
#endif
