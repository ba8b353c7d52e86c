import ArgumentParser
import OtaflashConsole
import OtaflashDevices

/// The root of the grammar.
struct Otaflash: ParsableCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash",
    abstract: "Flash firmware over Bluetooth LE.",
    discussion: """
      DEVICE is an address (C0:FF:EE:00:00:01, with /public or /random where the type matters), \
      an alias of yours (devices name), name:REGEX, unix:/path, sim:PROFILE for a simulated device \
      in this process, or last for the device connected to last.
      """,
    version: Release.version,
    subcommands: [
      Scan.self, Info.self, Flash.self, Image.self, Slots.self, Reset.self, Bench.self, Pair.self,
      Unpair.self, Simulate.self, FleetCommand.self, Devices.self, DoctorCommand.self,
      SelfTestCommand.self, Completion.self, Explain.self,
    ])

  @OptionGroup var global: GlobalOptions
}
