import ArgumentParser
import OtaflashUpdate

extension DeltaPolicy: ExpressibleByArgument {}

/// Whether less than the image may be sent, and where the images are that patches are made against.
struct DeltaOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Send a patch against what runs: auto (or the image compressed, where that is sooner), "
        + "never, or require.",
      valueName: "policy"))
  var delta = DeltaPolicy.auto

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The image that the device runs, or a folder of images, beside those flashed from here.",
      valueName: "path"),
    completion: .file())
  var base: String?

  func validate() throws {
    if base != nil, delta == .never {
      throw ValidationError("--base is for patches, and --delta never sends none")
    }
  }
}
