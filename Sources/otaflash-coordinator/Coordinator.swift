#if Sites
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashProgram

/// The root of the grammar.
struct Coordinator: GroupCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash-coordinator",
    abstract: "Run campaigns over many sites.",
    discussion: "docs/sites.md describes a deployment step by step.",
    version: Release.version,
    subcommands: [ServeCommand.self])

  @OptionGroup var global: GlobalOptions
}
#endif
