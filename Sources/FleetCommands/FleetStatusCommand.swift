#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore

/// Shows the progress of a run, also while another process is working on the run.
struct FleetStatusCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Show the progress of a run, or its result.")
  static let words = "fleet status"

  private static let watchInterval = Duration.seconds(1)

  @OptionGroup var option: RunOption

  @Flag(name: .long, help: "Update the display until the run has ended.")
  var watch = false

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let folder = try FleetFolder(of: session)
    guard let store = try folder.look() else { throw .fleet(.search(.none)) }
    let kept = try folder.find(option.run, in: store)
    var seen = 0
    while true {
      let history = try await store.history(of: kept.id)
      guard let report = RunReport(history) else {
        throw .fleet(.noEvents(of: kept.id))
      }
      let isWorkedOn = folder.isActive(kept.id)
      let status = FleetStatus(report, FleetRun(history), isWorkedOn: isWorkedOn, at: .now)
      let isLast = !watch || status.hasEnded
      let countsDown = status.isWaiting && session.console.settings.progress == .bar
      if isLast || history.count != seen || countsDown { show(status, isLast: isLast, in: session) }
      seen = history.count
      if isLast { return .done(status.hasEnded ? "ended" : "open") }
      guard await Pause.sleep(for: Self.watchInterval) else { throw .stopped }
    }
  }

  private func show(_ status: FleetStatus, isLast: Bool, in session: Session) {
    session.console.event("fleet_status", status.members)
    let lines = status.lines.map { Line($0) }
    if watch, !isLast, session.console.settings.progress == .bar {
      let error = FileOutput.standardError
      session.console.show(
        lines.prefix(error.rows - 1).map {
          $0.clipped(to: error.columns - 1, in: session.console.settings.errorStyle)
        })
    } else {
      for line in lines { session.console.result(line) }
    }
  }
}

/// The progress of a run, as lines and as JSON members.
struct FleetStatus: Sendable {
  private static let waveColumns = [
    "WAVE", "", "DONE", "FAILED", "ABSENT", "SKIPPED", "LEFT", "VERDICT",
  ]
  /// The maximum number of active devices to print, and the maximum number of causes.
  private static let namedMaximum = 10

  private let report: RunReport
  private let run: FleetRun
  /// Whether a process is working on this run.
  private let isWorkedOn: Bool
  private let now: WallClockTime
  private let waits: [RunWait]

  init(_ report: RunReport, _ run: FleetRun, isWorkedOn: Bool, at now: WallClockTime) {
    self.report = report
    self.run = run
    self.isWorkedOn = isWorkedOn
    self.now = run.time(now)
    // If no process is working on the run, only waits for a decision of the operator are shown.
    waits = run.waits(at: now).filter { isWorkedOn || $0.needsOperator }
  }

  private func ago(_ time: WallClockTime) -> String {
    Timestamp.ago(Double(time.milliseconds) / 1000, now: Double(now.milliseconds) / 1000)
  }

  var isWaiting: Bool { !waits.isEmpty }

  var hasEnded: Bool { if case .ended = run.control { true } else { false } }

  var lines: [String] {
    let id = run.beginning?.id ?? ""
    var lines = [
      "run \(id)  \(run.beginning?.campaign ?? "")  \(report.stateWords)", "  \(report.headline)",
    ]
    if !hasEnded, !isWorkedOn {
      lines.append(
        "  no process is working on the run; to continue, use 'fleet run' with its campaign")
    }
    lines += waits.map { "  waiting: \($0.words(in: run, at: now))" }
    if let last = report.operators.last, !hasEnded {
      lines.append("  last command: \(last.action.words), \(ago(last.at))")
    }
    lines += Text.table([Self.waveColumns] + rows).map { "  \($0)" }
    let busy = run.devices.filter(\.phase.isClaimed)
    lines += busy.prefix(Self.namedMaximum).map { device in
      let began = device.records.last.map { "  started " + ago($0.began) } ?? ""
      return "  on \(device.adapter ?? "no adapter")  \(device.device.name ?? device.device.id)"
        + began
    }
    if busy.count > Self.namedMaximum {
      lines.append("  and \(busy.count - Self.namedMaximum) more")
    }
    lines += report.failures.filter { !$0.devices.isEmpty }.prefix(Self.namedMaximum).map {
      "  \($0.devices.count) \($0.cause.title)"
    }
    return lines
  }

  private var rows: [[String]] {
    zip(run.waves, report.waves).enumerated().map { index, pair in
      let (wave, reported) = pair
      let tally = wave.tally
      return [
        "\(index + 1)", wave.name, "\(tally.succeeded)/\(tally.size)", "\(tally.failed)",
        "\(tally.unseen)", "\(tally.neutral)", "\(tally.size - tally.settled)",
        reported.verdictWords,
      ]
    }
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "run": .text(run.beginning?.id), "campaign": .text(run.beginning?.campaign),
      "state": .string(report.stateWords), "ended": .bool(hasEnded),
      "worked_on": .bool(isWorkedOn),
      "devices": .integer(run.devices.count), "settled": .integer(run.settledCount),
      "running": .integer(run.claimedCount), "waves": .array(run.waveMembers),
      "waits": waits.isEmpty ? nil : .array(waits.map { .object($0.members(in: run, at: now)) }),
    ])
  }
}

extension RunWait {
  /// Whether only an operator can end the wait.
  fileprivate var needsOperator: Bool {
    switch reason {
    case .approval, .paused: true
    case .window, .soak, .retry, .noAdapter, .hook, .noFreePlace: false
    }
  }
}
#endif
