import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SlotsList: TargetedCommand {
  static let words = "slots list"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Show the image in each slot; nothing is changed.")

  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    try await SMPSlots(.list).perform(on: target.device, outcome: "listed", in: session)
  }
}
