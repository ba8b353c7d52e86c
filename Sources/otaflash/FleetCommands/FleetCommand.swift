import ArgumentParser
import OtaflashDevices

#if Fleet
/// Campaigns: updates of many devices in waves. The same command starts and continues a run.
struct FleetCommand: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Update many devices: plan, run, monitor and report a campaign.",
    discussion: """
      RUN is the start of a run's name (default: the last run). A campaign is a file; see \
      otaflash-campaign(5).
      """,
    subcommands: [
      FleetPlanCommand.self, FleetRunCommand.self, FleetStatusCommand.self,
      FleetPauseCommand.self, FleetResumeCommand.self, FleetCancelCommand.self,
      FleetRetryCommand.self, FleetReportCommand.self, FleetListCommand.self,
    ])

  @OptionGroup var global: GlobalOptions
}
#else
/// Reports that this program was built without campaigns.
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
