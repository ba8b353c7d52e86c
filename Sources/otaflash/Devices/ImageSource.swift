import OtaflashFirmware
import OtaflashFleet

/// The firmware file that a command was given.
enum ImageSource {
  /// All images in a file, without their proof.
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

  /// Compares every image with the devices that it must be for.
  static func check(
    _ package: FirmwarePackage, isFor board: MCUbootBoard
  ) throws(CommandFault) {
    for part in package.parts {
      do throws(BoardFault) { try board.check(part) } catch {
        throw .otherBoard(name: part.name, error)
      }
    }
  }
}
