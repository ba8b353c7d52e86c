#if Fleet
import OtaflashFleetCommands
import OtaflashFleetHost

typealias FleetCommand = OtaflashFleetCommands.FleetCommand
typealias DeviceHistory = OtaflashFleetCommands.DeviceHistory
typealias KnownDevices = OtaflashFleetHost.KnownDevices
#else
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashState

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

/// The known devices of a program without campaigns: the devices of commands for one device.
struct KnownDevices: Sendable {
  private let session: Session

  init(_ session: Session) { self.session = session }

  func all() throws(CommandFault) -> [DeviceRecord] {
    try StateStore.reading(session).devices()
  }
}

/// The empty history of a build without campaigns.
struct DeviceHistory: Sendable {
  let isEmpty = true
  let facts: [[String]] = []

  init(of device: String, in session: Session) throws(CommandFault) {}

  func show(on console: Console) {}
}
#endif
