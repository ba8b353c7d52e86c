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
      var rows = [Self.columns]
      for run in runs {
        let state = try store.lastTurn(of: run.id)?.turnWords ?? ""
        rows.append([run.id, run.campaign, run.began.text, state])
        session.console.event(
          "fleet_kept",
          [
            "run": .string(run.id), "campaign": .string(run.campaign),
            "began": .string(run.began.text), "state": .string(state),
            "events": .integer(run.events),
          ])
      }
      for line in Text.table(rows) { session.console.result(line) }
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
