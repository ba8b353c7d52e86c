import ArgumentParser
import OtaflashUpdate

extension DeltaPolicy: ExpressibleByArgument {}

/// Whether less than the image may be sent, and where the images are that patches are made against.
package struct DeltaOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Send a patch against what runs: auto (or the image compressed, where that is sooner), "
        + "never, or require.",
      valueName: "policy"))
  package var delta = DeltaPolicy.auto

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The image that the device runs, or a folder of images, beside those flashed from here.",
      valueName: "path"),
    completion: .file())
  package var base: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A patch that makes the image of what the device runs, to be sent instead of one made here.",
      valueName: "file"),
    completion: .file())
  package var patch: String?

  package init() {}

  package func validate() throws {
    if patch != nil, delta == .never {
      throw ValidationError("--patch gives a patch, and --delta never sends none")
    }
    if base != nil, delta == .never {
      throw ValidationError("--base is for patches, and --delta never sends none")
    }
  }
}
