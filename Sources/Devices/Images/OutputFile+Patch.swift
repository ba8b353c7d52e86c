import OtaflashConsole
import OtaflashDelta
import OtaflashFirmware

extension OutputFile.Kind {
  /// A patch has no magic number, so the complete file is read.
  package static let patch = Self(
    "patch", newSuffix: ".new.patch", headSize: FirmwareImage.defaultLimit,
    begins: { PatchFile(of: Array($0)) != nil })
}
