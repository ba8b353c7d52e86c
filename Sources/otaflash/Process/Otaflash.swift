import ArgumentParser

/// The root of the grammar.
struct Otaflash: ParsableCommand, Sendable {
  static let configuration = CommandConfiguration(
    commandName: "otaflash",
    abstract: "Flash firmware over Bluetooth LE.",
    discussion: """
      DEVICE is an address (C0:FF:EE:00:00:01, with /public or /random where the type matters), \
      name:REGEX, unix:/path, sim:PROFILE for a simulated device in this process, or last for \
      the device connected to last.
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
  var captureFile: OutputFile? { get }
  /// The files that the command line has it read.
  var inputFiles: [String] { get }

  func perform(in session: Session) async throws(CommandFault) -> Ending
}

/// The DEVICE and the IMAGE that a command is about, as they were written.
struct Subject: Equatable, Sendable {
  var device: String?
  var image: String?
  /// The command that shows the part of the device which this one changes.
  var inspection = ["info"]

  /// A command that changes slots.
  static func slots(of device: String) -> Subject {
    Subject(device: device, inspection: ["slots", "list"])
  }
}

extension Subcommand {
  static var words: String { configuration.commandName ?? "" }
  var subject: Subject { Subject() }
  var captureFile: OutputFile? { nil }
  var inputFiles: [String] { [] }
}
