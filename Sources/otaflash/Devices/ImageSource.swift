import OtaflashFirmware
import OtaflashFleet

/// The image that a command was given.
enum ImageSource {
  static func load(
    _ path: String, saying identity: ImageIdentity
  ) throws(CommandFault) -> FirmwareImage {
    do throws(ImageFileFault) {
      return try ImageFile.load(path, overrides: identity)
    } catch {
      throw .image(error)
    }
  }
}
