import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SlotsErase: TargetedCommand {
  static let words = "slots erase"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "erase",
    abstract: "Erase a slot whose image does not run.",
    discussion: """
      The image in the slot is lost, so the device cannot revert to it. Erasing a slot can take \
      half a minute.
      """)

  @Option(
    name: .long,
    help: ArgumentHelp("The slot to erase, 0 or 1.", valueName: "number"))
  var slot: WholeNumber = 1

  @OptionGroup var image: ImageIndexOption
  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { .slots(of: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  func validate() throws {
    guard 0...1 ~= slot.value else {
      throw ValidationError("--slot \(slot.value) is out of range; specify 0 or 1")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    try await SMPSlots(.erase(slot: slot.value), image: image.index)
      .perform(on: target.device, outcome: "erased", in: session)
  }
}
