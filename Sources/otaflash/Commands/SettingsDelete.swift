import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SettingsDelete: TargetedCommand {
  static let words = "settings delete"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete the saved value of a setting.",
    discussion: """
      The application uses its current value until the next restart, and then its default. A later \
      settings save stores the current value again.
      """)

  @Argument(help: "The name, such as app/rate.")
  var name: String

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let access = SMPSettingsAccess([.delete(name)])
    _ = try await target.device.exchange(in: session, isExclusive: true) {
      (dialer, clock) async throws(UpdateFault) in try await access.run(on: dialer, clock: clock)
    }
    session.console.result("the saved value of \(name) is deleted")
    return target.device.ending("deleted")
  }
}
