import ArgumentParser
import OtaflashUpdate

extension DeltaPolicy: ExpressibleByArgument {}

/// The options for patches and compressed images, and the source of the base images.
package struct DeltaOptions: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Send a patch against the running image: auto (a patch or a compressed image, if it is "
        + "faster), never, or require.",
      valueName: "policy"))
  package var delta = DeltaPolicy.auto

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The running image, or a folder of images, in addition to the images that this host has "
        + "flashed.",
      valueName: "path"),
    completion: .file())
  package var base: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A prebuilt patch from the running image to the image, used instead of a new patch.",
      valueName: "file"),
    completion: .file())
  package var patch: String?

  package init() {}

  package func validate() throws {
    if patch != nil, delta == .never {
      throw ValidationError("--patch conflicts with --delta never")
    }
    if base != nil, delta == .never {
      throw ValidationError("--base conflicts with --delta never")
    }
  }
}
