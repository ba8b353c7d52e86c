import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// The root of the grammar.
struct Otaflash: GroupCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash",
    abstract: "Flash firmware over Bluetooth LE.",
    discussion: """
      DEVICE is an address (C0:FF:EE:00:00:01, with /public or /random if the type matters), an \
      alias (devices name), name:REGEX, unix:/path, sim:PROFILE for a simulated device in this \
      process, or last for the last connected device.
      """,
    version: Release.version,
    subcommands: [
      Scan.self, Info.self, Flash.self, ConsoleCommand.self, Image.self, Slots.self, Reset.self,
      Files.self, SettingsCommand.self, Stats.self, DateTime.self, Echo.self,
      Bench.self, Pair.self,
      Unpair.self, Simulate.self, FleetCommand.self, Devices.self, Config.self, DoctorCommand.self,
      SelfTestCommand.self, Completion.self, Explain.self,
    ])

  @OptionGroup var global: GlobalOptions
}
