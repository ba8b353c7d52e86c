#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore
import OtaflashUpdate

/// The result of a run, printed at the end of the command that ran it.
package struct FleetSummary: Sendable {
  /// The maximum number of devices to print per cause; the report contains all devices.
  private static let namedMaximum = 5

  private let id: String
  private let store: FleetStore
  private let session: Session

  package init(_ run: String, _ store: FleetStore, _ session: Session) {
    id = run
    self.store = store
    self.session = session
  }

  package func report() async throws(CommandFault) -> Ending {
    let history = try await store.history(of: id)
    guard let report = RunReport(history) else {
      throw .fleet(.noEvents(of: id))
    }
    let run = FleetRun(history)
    let time = Text.clock(.milliseconds(report.milliseconds))
    session.console.result("\(head(run))\(report.headline), in \(time)")
    if let savings = report.savings { session.console.result("  " + savings.words) }
    for group in report.failures where !group.devices.isEmpty {
      session.console.result(line(for: group, in: report))
    }
    let head: ChainHead?
    do throws(StorageFault) { head = try store.head(of: id) } catch { throw .fleet(.store(error)) }
    if let head {
      session.console.result("  " + head.words)
      session.console.event("fleet_chain", head.members(of: id))
    }
    session.console.result(
      "next:   " + session.command("fleet", "report", id, "--html", "report.html"))
    guard case .ended(let ending) = run.control else {
      throw .fleet(.waits(run: id, words: report.stateWords))
    }
    return Ending(
      exit: ending.exit, outcome: ending.name, devices: run.devices.map(Ending.Device.init))
  }

  private func head(_ run: FleetRun) -> String {
    switch run.control {
    case .ended(.complete): "done    "
    case .ended(.stopped), .ended(.cancelled): "stopped "
    case .running, .paused, .cancelling: "        "
    }
  }

  private func line(for group: FailureGroup, in report: RunReport) -> String {
    let names = group.devices.prefix(Self.namedMaximum).map { report.devices[$0].label }
    let more = group.devices.count - names.count
    return "  \(group.devices.count) \(group.cause.title): \(names.joined(separator: ", "))"
      + (more > 0 ? " and \(more) more" : "")
  }
}

extension RunEnding {
  var exit: ExitStatus {
    switch self {
    case .complete(failed: 0): .done
    case .complete: .someFailed
    case .stopped, .cancelled: .fleetStopped
    }
  }
}

extension Ending.Device {
  init(_ device: DeviceProgress) {
    let figures = device.figures
    self.init(
      id: device.device.id, outcome: device.ending?.name ?? "not-done",
      from: figures?.from?.description, to: device.runs?.description, toBuild: nil,
      proof: figures.flatMap { UpdateResult.Proof(rawValue: $0.proof) }, validation: nil,
      took: device.worked, resumes: figures?.resumes)
  }
}

extension DeviceProgress {
  /// The total duration of the attempts on the device; `nil` = no attempt was claimed.
  fileprivate var worked: Duration? {
    guard !records.isEmpty else { return nil }
    return records.reduce(.zero) { $0 + $1.began.duration(to: $1.ended ?? $1.began) }
  }
}
#endif
