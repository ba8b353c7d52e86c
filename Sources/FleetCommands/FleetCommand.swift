#if Fleet
import ArgumentParser
import OtaflashDevices

/// Campaigns: updates of many devices in waves. The same command starts and continues a run.
package struct FleetCommand: GroupCommand {
  package static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Update many devices: plan, run, monitor and report a campaign.",
    discussion: """
      RUN: the first characters of a run's name (default: the active run, otherwise the newest \
      run). A campaign is a file; see otaflash-campaign(5).
      """,
    subcommands: [
      FleetPlanCommand.self, FleetRunCommand.self, FleetStatusCommand.self,
      FleetPauseCommand.self, FleetResumeCommand.self, FleetCancelCommand.self,
      FleetRetryCommand.self, FleetReportCommand.self, FleetListCommand.self,
    ])

  @OptionGroup var global: GlobalOptions

  package init() {}
}
#endif
