import ArgumentParser

/// The root of the grammar.
struct Otaflash: ParsableCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash",
    abstract: "Flash firmware over Bluetooth LE.",
    discussion: """
      DEVICE is an address (C0:FF:EE:00:00:01, with /public or /random where the type matters), \
      name:REGEX, unix:/path, or sim:PROFILE for a simulated device in this process.
      """,
    version: Release.version,
    subcommands: [
      Scan.self, Info.self, Flash.self, Image.self, Slots.self, Reset.self, Bench.self, Pair.self,
      Unpair.self, Simulate.self, Devices.self, DoctorCommand.self, Completion.self,
    ])

  @OptionGroup var global: GlobalOptions
}

/// A command that does something; the others only group.
protocol Subcommand: ParsableCommand, Sendable {
  var global: GlobalOptions { get }
  /// The command's words, as a program sees them: `flash`, `image info`.
  static var words: String { get }
  /// What the command is about, as the user wrote it.
  var subject: Subject { get }
  /// Where the command's links are to be recorded.
  var captureFile: String? { get }

  func perform(in session: Session) async throws(CommandFault) -> Ending
}

struct Subject: Equatable, Sendable {
  var device: String?
  var image: String?
  /// The command that shows what of the device this one is about.
  var inspection = ["info"]
}

extension Subcommand {
  static var words: String { configuration.commandName ?? "" }
  var subject: Subject { Subject() }
  var captureFile: String? { nil }
}
