import OtaflashFirmware
import OtaflashFleet

/// The firmware file that a command was given.
enum ImageSource {
  /// The one image in a file, with its proof.
  static func load(
    _ path: String, saying identity: ImageIdentity, signedBy keyPath: String? = nil
  ) throws(CommandFault) -> FirmwareImage {
    let package = try loadPackage(path, saying: identity)
    try prove(package, signedBy: keyPath)
    do throws(FirmwareFault) {
      return try package.onlyImage()
    } catch {
      throw .image(.malformed(path: path, error))
    }
  }

  static func loadPackage(
    _ path: String, saying identity: ImageIdentity
  ) throws(CommandFault) -> FirmwarePackage {
    do throws(ImageFileFault) {
      return try ImageFile.loadPackage(path, overrides: identity)
    } catch {
      throw .image(error)
    }
  }

  /// Compares every image with the hash that it carries and, with a key, checks its signature.
  static func prove(
    _ package: FirmwarePackage, signedBy keyPath: String?
  ) throws(CommandFault) {
    let key = try keyPath.map { path throws(CommandFault) in try VerificationKeyFile.load(path) }
    do throws(PartFault) {
      try package.checkIntegrity()
      if let key { try package.checkSignatures(by: key) }
    } catch {
      throw .unproved(name: package.name, error)
    }
  }
}
