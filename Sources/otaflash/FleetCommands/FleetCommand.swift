import ArgumentParser
import OtaflashDevices

#if Fleet
/// Campaigns: many devices, in waves, with one command to run and the same command to go on.
struct FleetCommand: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Update many devices: plan, run, watch and report a campaign.",
    discussion: """
      RUN is the beginning of a run's name; without one the last run is meant. A campaign is a \
      file, see otaflash-campaign(5).
      """,
    subcommands: [
      FleetPlanCommand.self, FleetRunCommand.self, FleetStatusCommand.self,
      FleetPauseCommand.self, FleetResumeCommand.self, FleetCancelCommand.self,
      FleetRetryCommand.self, FleetReportCommand.self, FleetListCommand.self,
    ])

  @OptionGroup var global: GlobalOptions
}
#else
/// This program was built without campaigns, and says so.
struct FleetCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet", abstract: "Update many devices (not built into this program).")

  @Argument(parsing: .captureForPassthrough, help: .hidden)
  var rest: [String] = []

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    throw .withoutCampaigns
  }
}
#endif
