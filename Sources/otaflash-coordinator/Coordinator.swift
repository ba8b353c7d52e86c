#if Sites
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashProgram

/// The root command of the program.
struct Coordinator: GroupCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash-coordinator",
    abstract: "Run campaigns over many sites.",
    discussion: "docs/sites.md describes a deployment step by step.",
    version: Release.version,
    subcommands: [
      ServeCommand.self, CredentialsCommand.self, AccountsCommand.self, RunCommand.self,
      StatusCommand.self, ApproveCommand.self, PauseCommand.self, ResumeCommand.self,
      CancelCommand.self, RetryCommand.self,
    ])

  @OptionGroup var global: GlobalOptions
}
#endif
