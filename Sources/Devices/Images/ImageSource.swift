import OtaflashDelta
import OtaflashFirmware
import OtaflashState

/// The firmware file of a command.
package enum ImageSource {
  /// Returns the files that are read for a firmware file: the file itself and its sidecar file;
  /// none for standard input.
  package static func files(of path: String) -> [String] {
    path == ImageFile.standardInput ? [] : [path, path + ImageFile.sidecarSuffix]
  }

  /// Returns all images in a file, without verification.
  package static func loadPackage(
    _ path: String, saying identity: ImageIdentity, in region: AddressRegion?,
    _ session: Session
  ) throws(CommandFault) -> FirmwarePackage {
    do throws(ImageFileFault) {
      return try ImageFile.loadPackage(path, overrides: identity, region: region) {
        let name = path == ImageFile.standardInput ? "standard input" : path
        session.console.note("waiting for \(name): no data yet")
      }
    } catch {
      if case .cancelled = error { throw .stopped }
      throw .image(error)
    }
  }

  /// Compares every image with its hash and, with a key, verifies its signature.
  package static func prove(
    _ package: FirmwarePackage, signedBy keyPath: String?
  ) throws(CommandFault) {
    try prove(
      package,
      by: try keyPath.map { path throws(CommandFault) in try VerificationKeyFile.load(path) }
    )
  }

  /// Compares every image with its hash and, with a key that was already read, verifies its
  /// signature.
  package static func prove(
    _ package: FirmwarePackage, by key: VerificationKey?
  ) throws(CommandFault) {
    do throws(PartFault) {
      try package.checkIntegrity()
      if let key { try package.checkSignatures(by: key) }
    } catch {
      throw .unproved(name: package.name, error)
    }
  }

  /// Refuses content that is not firmware: a device that only compares a checksum would accept it.
  package static func checkContent(of package: FirmwarePackage) throws(CommandFault) {
    for part in package.parts {
      if let content = part.foreignContent {
        throw .notFirmware(name: part.name, content)
      }
      if let patch = part.patchFile { throw .patchFile(name: part.name, patch) }
    }
  }

  /// Compares the board of every image with the required board.
  package static func check(
    _ package: FirmwarePackage, isFor board: MCUbootBoard
  ) throws(CommandFault) {
    for part in package.parts {
      do throws(BoardFault) { try board.check(part) } catch {
        throw .otherBoard(name: part.name, error)
      }
    }
  }
}
