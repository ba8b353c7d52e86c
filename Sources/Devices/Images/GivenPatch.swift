import OtaflashConsole
import OtaflashFirmware
import OtaflashUpdate

/// What `--patch` points at.
package enum GivenPatch {
  /// More than a patch of any image has.
  private static let limit = 64 << 20

  /// The patch in a file, as far as it can be checked before the device is asked.
  package static func load(
    _ path: String, for package: FirmwarePackage, madeOf base: [UInt8]?
  ) throws(CommandFault) -> PrebuiltPatch {
    let file: [UInt8]
    do throws(FileFault) { file = try InputFile(path: path, limit: limit).read() } catch {
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
