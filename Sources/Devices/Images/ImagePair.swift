import ArgumentParser
import OtaflashDelta
import OtaflashFirmware
import OtaflashState

/// The running image and the new image of a device.
package struct ImagePair: Sendable {
  package let old: FirmwareImage
  package let new: FirmwareImage

  /// Reads and reports both files.
  package static func load(
    _ files: ImagePairArguments, _ session: Session
  ) throws(CommandFault) -> ImagePair {
    try load(files.old, files.new, session)
  }

  package static func load(
    _ old: String, _ new: String, _ session: Session
  ) throws(CommandFault) -> ImagePair {
    ImagePair(old: try load(old, session), new: try load(new, session))
  }

  private static func load(_ path: String, _ session: Session) throws(CommandFault) -> FirmwareImage
  {
    let package = try ImageSource.loadPackage(path, saying: ImageIdentity(), in: nil, session)
    let image: FirmwareImage
    do throws(FirmwareFault) { image = try package.onlyImage() } catch {
      throw .image(.malformed(path: path, error))
    }
    if let patch = image.patchFile { throw .patchFile(name: image.name, path: path, patch) }
    session.console.event(package)
    session.console.note(image.summary)
    return image
  }
}

package struct ImagePairArguments: ParsableArguments, Sendable {
  @Argument(help: "The firmware file of the running image, or - for standard input.")
  package var old: String

  @Argument(help: "The firmware file of the new image, or - for standard input.")
  package var new: String

  package init() {}

  package func validate() throws {
    guard old != ImageFile.standardInput || new != ImageFile.standardInput else {
      throw ValidationError("only one of the two files can be standard input")
    }
  }

  package var paths: [String] { ImageSource.files(of: old) + ImageSource.files(of: new) }
}
