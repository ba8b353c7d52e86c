import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SettingsSave: TargetedCommand {
  static let words = "settings save"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "save",
    abstract: "Save the values of all settings, so that they survive a restart.")

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    _ = try await target.device.exchange(in: session, isExclusive: true) {
      (dialer, clock) async throws(UpdateFault) in
      try await SMPSettingsAccess([.save]).run(on: dialer, clock: clock)
    }
    session.console.result("the settings are saved")
    return target.device.ending("saved")
  }
}
