import OtaflashConsole
import OtaflashFirmware
import OtaflashUpdate

/// The target of `--patch`.
package enum GivenPatch {
  /// The maximum size of the file, in bytes: larger than a patch of any image.
  private static let limit = 64 << 20

  /// Reads a patch from a file, and checks it as far as possible without the device.
  package static func load(
    _ path: String, for package: FirmwarePackage, madeOf base: [UInt8]?
  ) throws(CommandFault) -> PrebuiltPatch {
    let file: [UInt8]
    do throws(FileFault) { file = try InputFile(path: path, limit: limit).readComplete() } catch {
      throw .file(error)
    }
    let image: FirmwareImage
    do throws(FirmwareFault) { image = try package.onlyImage() } catch {
      throw .image(.malformed(path: package.name, error))
    }
    do throws(PrebuiltPatchFault) {
      var patch = try PrebuiltPatch(file)
      try patch.check(makes: image.bytes, of: base)
      return patch
    } catch {
      throw .readyPatch(path: path, error)
    }
  }
}
