import OtaflashConsole
import OtaflashFirmware
import OtaflashState

/// The package of resources of a command.
package enum ResourceSource {
  /// Reads a package of resources.
  package static func load(_ path: String) throws(CommandFault) -> ResourcePackage {
    let bytes: [UInt8]
    do throws(FileFault) {
      bytes = try InputFile(path: path, limit: FirmwareImage.defaultLimit).readComplete()
    } catch {
      throw .file(error)
    }
    do throws(FirmwareFault) {
      return try ResourcePackage.decode(name: ImageFile.lastComponent(of: path), bytes: bytes)
    } catch {
      throw .image(.malformed(path: path, error))
    }
  }

  /// Returns whether a regular file is a package of resources. All other files are read as
  /// firmware, which reports their faults.
  package static func recognizes(_ path: String) -> Bool {
    guard path != ImageFile.standardInput, !InputFile.isNoRegularFile(path) else { return false }
    do throws(FileFault) {
      return ResourcePackage.recognizes(
        try InputFile(path: path, limit: FirmwareImage.defaultLimit).readComplete())
    } catch {
      return false
    }
  }
}
