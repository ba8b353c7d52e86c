#if Sites
import ArgumentParser
import OtaflashBlueZ
import OtaflashConsole
import OtaflashDevices
import OtaflashFleetFiles
import OtaflashGATT
import OtaflashSiteHost

/// The state of a run, as the API returns it.
struct RemoteRun: Decodable, Sendable {
  struct Wait: Decodable, Sendable { let words: String? }

  let run: String
  let campaign: String
  let state: String
  let ended: Bool
  let devices: Int
  let settled: Int
  let running: Int
  let waits: [Wait]

  var line: String { "run \(run)  \(campaign)  \(settled) of \(devices) devices, \(state)" }
}

private struct StartedRun: Decodable, Sendable { let run: String }

/// Submits a campaign with its files, and prints the progress of its run.
struct RunCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Submit a campaign, and follow its run.",
    discussion: "If the same campaign was submitted before, the command follows its run again.")
  private static let campaignMaximum = 16 << 20
  private static let fileMaximum = 256 << 20
  private static let pollInterval = Duration.seconds(1)

  @Argument(help: "The campaign file; see otaflash-campaign(5).", completion: .file())
  var campaign: String
  @Flag(name: .long, help: "Do not wait for the end of the run.") var detach = false
  @OptionGroup var client: ClientOptions
  @OptionGroup var global: GlobalOptions

  var inputFiles: [String] { [campaign] }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let client = try client.client()
    let text = try read(campaign, atMost: Self.campaignMaximum)
    let files = try names(in: text).sorted().map { name throws(CommandFault) in
      CoordinatorClient.File(name: name, bytes: try read(path(of: name), atMost: Self.fileMaximum))
    }
    let name = campaign.split(separator: "/").last.map(String.init) ?? campaign
    let started: StartedRun = try await client.submit(
      CoordinatorClient.File(name: name, bytes: text), files)
    session.console.event("run", ["run": .string(started.run)])
    guard !detach else {
      session.console.result("run \(started.run) started")
      return .done("started")
    }
    return try await follow(started.run, client, session)
  }

  private func follow(
    _ id: String, _ client: CoordinatorClient, _ session: Session
  ) async throws(CommandFault) -> Ending {
    var last = ""
    while true {
      let run: RemoteRun = try await client.get("/runs/\(id)")
      if run.line != last { session.console.result(run.line) }
      last = run.line
      if run.ended { return try await ending(of: run, client) }
      guard await EventLoopClock().pause(for: Self.pollInterval) else { throw .stopped }
    }
  }

  /// Returns the outcome of an ended run, with the same exit status as `otaflash fleet run`.
  private func ending(
    of run: RemoteRun, _ client: CoordinatorClient
  ) async throws(CommandFault) -> Ending {
    guard run.state.hasPrefix("complete") else {
      return .failed(.fleetStopped, outcome: "stopped", device: nil)
    }
    let path = "/runs/\(run.run)/devices?outcome=succeeded&size=1"
    let succeeded: DeviceTable = try await client.get(path)
    return succeeded.total == run.devices
      ? .done("complete") : .failed(.someFailed, outcome: "complete", device: nil)
  }

  private struct DeviceTable: Decodable, Sendable { let total: Int }

  private func path(of name: String) -> String {
    campaign.lastIndex(of: "/").map { campaign[...$0] + name } ?? name
  }

  private func read(_ path: String, atMost limit: Int) throws(CommandFault) -> [UInt8] {
    do throws(FileFault) { return try InputFile(path: path, limit: limit).read() } catch {
      throw .file(error)
    }
  }

  private func names(in text: [UInt8]) throws(CommandFault) -> Set<String> {
    let names: Set<String>
    do {
      names = try CampaignReferences.names(in: text) { name in
        try read(path(of: name), atMost: Self.campaignMaximum)
      }
    } catch let fault as CampaignFileFault {
      throw .sites(
        .campaign(path: campaign, words: "line \(fault.place.line): \(fault.words)"))
    } catch let fault as CommandFault {
      throw fault
    } catch {
      throw .sites(.campaign(path: campaign, words: "\(error)"))
    }
    if let name = names.first(where: { $0.contains("/") }) {
      throw .sites(
        .campaign(
          path: campaign,
          words: "'\(name)' is in another folder; move the file to the folder of the campaign"))
    }
    return names
  }
}

/// Prints the state of all runs, or of one run.
struct StatusCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Print the state of runs.")

  private struct Runs: Decodable, Sendable {
    struct Run: Decodable, Sendable {
      let run: String
      let campaign: String
      let state: String
    }
    let runs: [Run]
  }

  @Argument(help: "The name of a run (default: all runs).") var run: String?
  @OptionGroup var client: ClientOptions
  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let client = try client.client()
    guard let run else {
      let table: Runs = try await client.get("/runs")
      for run in table.runs {
        session.console.result("\(run.run)  \(run.campaign)  \(run.state)")
        session.console.event(
          "run",
          [
            "run": .string(run.run), "campaign": .string(run.campaign),
            "state": .string(run.state),
          ])
      }
      return .done("listed")
    }
    let found: RemoteRun = try await client.get("/runs/\(run)")
    session.console.result(found.line)
    for words in found.waits.compactMap(\.words) { session.console.result("  waits: \(words)") }
    session.console.event(
      "run",
      [
        "run": .string(found.run), "state": .string(found.state), "ended": .bool(found.ended),
        "devices": .integer(found.devices), "settled": .integer(found.settled),
      ])
    return .done("listed")
  }
}

private struct CommandBody: Encodable {
  let action: String
  let reason: String
  var devices: [String]?
}

private struct CommandAnswer: Decodable, Sendable {}

/// The run to which a command applies, and the reason for the command.
struct RemoteRunOptions: ParsableArguments, Sendable {
  @Argument(help: "The name of the run.") var run: String
  @Option(name: .long, help: "The reason, which is recorded.") var reason: String
  @OptionGroup var client: ClientOptions
}

/// A command that the coordinator executes on a run.
private protocol RemoteCommand: Subcommand {
  static var action: String { get }
  var options: RemoteRunOptions { get }
  var devices: [String] { get }
}

extension RemoteCommand {
  static var action: String { configuration.commandName ?? "" }
  var devices: [String] { [] }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let body = CommandBody(
      action: Self.action, reason: options.reason, devices: devices.isEmpty ? nil : devices)
    let _: CommandAnswer = try await options.client.client().post(
      "/runs/\(options.run)/commands", body)
    session.console.result("run \(options.run): \(Self.action) completed")
    return .done("done")
  }
}

struct ApproveCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve", abstract: "Approve the wave that waits for approval.")
  @OptionGroup var options: RemoteRunOptions
  @OptionGroup var global: GlobalOptions
}

struct PauseCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "pause", abstract: "Pause a run; updates in progress are completed.")
  @OptionGroup var options: RemoteRunOptions
  @OptionGroup var global: GlobalOptions
}

struct ResumeCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "resume", abstract: "Resume a paused run.")
  @OptionGroup var options: RemoteRunOptions
  @OptionGroup var global: GlobalOptions
}

struct CancelCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Cancel a run; updates in progress end at a safe point.")
  @OptionGroup var options: RemoteRunOptions
  @OptionGroup var global: GlobalOptions
}

struct RetryCommand: RemoteCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Retry the given devices, or all devices that did not succeed.")
  @OptionGroup var options: RemoteRunOptions
  @Argument(help: "Devices by id, name or alias.") var devices: [String] = []
  @OptionGroup var global: GlobalOptions
}
#endif
