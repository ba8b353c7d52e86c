import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SlotsConfirm: TargetedCommand {
  static let words = "slots confirm"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "confirm",
    abstract: "Keep the image that runs.",
    discussion: """
      An image that runs on trial stays; the bootloader no longer goes back. Look first whether \
      the device works: there is no way back from this but another update.
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
