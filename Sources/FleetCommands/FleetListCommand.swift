#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore

/// Lists the stored runs.
struct FleetListCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the runs, newest first.")
  static let words = "fleet list"

  private static let columns = ["RUN", "CAMPAIGN", "BEGAN", "STATE"]

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    guard let store = try FleetFolder(of: session).look() else { return none(session) }
    for loss in try store.lossWords() { session.console.note("note: \(loss)") }
    do throws(StorageFault) {
      let runs = try store.runs()
      guard !runs.isEmpty else { return none(session) }
      var rows: [[String]] = []
      for run in runs {
        let state = try store.lastTurn(of: run.id)?.turnWords ?? ""
        let began = Timestamp.ago(Double(run.began.milliseconds) / 1000)
        rows.append([run.id, run.campaign, began, state])
        session.console.event(
          "fleet_kept",
          [
            "run": .string(run.id), "campaign": .string(run.campaign),
            "began": .string(run.began.text), "state": .string(state),
            "events": .integer(run.events),
          ])
      }
      session.console.table(Self.columns, rows, keeping: ["RUN"])
    } catch {
      throw .fleet(.store(error))
    }
    return .done("listed")
  }

  private func none(_ session: Session) -> Ending {
    session.console.note("no runs yet")
    return .done("listed")
  }
}
#endif
