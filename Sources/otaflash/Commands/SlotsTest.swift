import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashUpdate

struct SlotsTest: TargetedCommand {
  static let words = "slots test"
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Start the other image on trial at the next restart.",
    discussion: """
      The bootloader starts the image once. Unless the image is confirmed while it runs, the next \
      restart reverts to the previous image.
      """)

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The first hexadecimal digits of the image's hash, if several images qualify.",
      valueName: "digits"),
    transform: Self.prefix)
  var hash: [UInt8]?

  @OptionGroup var image: ImageIndexOption
  @OptionGroup var target: DeviceOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { .slots(of: target.device.text) }
  var captureFile: OutputFile? { capture.file }

  private static func prefix(_ text: String) throws -> [UInt8] {
    guard let bytes = Text.bytes(hex: text), !bytes.isEmpty else {
      throw ValidationError("'\(text)' is not a hash; write an even number of hexadecimal digits")
    }
    return bytes
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let ending = try await SMPSlots(.test(hashPrefix: hash), image: image.index)
      .perform(on: target.device, outcome: "pending", in: session)
    session.console.result("next:   " + session.command("reset", "-d", target.device.text))
    return ending
  }
}
