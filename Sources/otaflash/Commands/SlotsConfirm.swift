import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SlotsConfirm: TargetedCommand {
  static let words = "slots confirm"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Make the running image permanent.",
    discussion: """
      Confirms an image on trial, so that the bootloader does not revert it. Check first that the \
      device works: only another update can undo this.
      """)

  @OptionGroup var image: ImageIndexOption
  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { .slots(of: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    try await SMPSlots(.confirm, image: image.index)
      .perform(on: target.device, outcome: "confirmed", in: session)
  }
}
