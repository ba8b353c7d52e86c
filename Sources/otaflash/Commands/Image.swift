import ArgumentParser
import OtaflashDevices
import OtaflashFirmware

/// Inspects an image file without a device.
struct Image: GroupCommand {
  static let configuration = CommandConfiguration(
    commandName: "image",
    abstract: "Inspect a firmware file without a device.",
    subcommands: [ImageInfo.self, ImageVerify.self, ImageDiff.self, ImagePatch.self])

  @OptionGroup var global: GlobalOptions
}

/// Options that set the version and hardware of an image.
struct IdentityOptions: ParsableArguments, Sendable {
  @Option(
    name: .long, help: ArgumentHelp("The image's version, such as 1.3.0.", valueName: "version"),
    transform: Self.version)
  var imageVersion: FirmwareVersion?

  @Option(
    name: .long, help: ArgumentHelp("The image's hardware, such as 0x0000A001.", valueName: "id"),
    transform: Self.hardware)
  var hardware: HardwareID?

  private static func version(_ text: String) throws -> FirmwareVersion {
    guard let version = FirmwareVersion(text) else {
      throw ValidationError("'\(text)' is not a version; write three numbers: 1.3.0")
    }
    return version
  }

  private static func hardware(_ text: String) throws -> HardwareID {
    guard let hardware = HardwareID(text) else {
      throw ValidationError("'\(text)' is not a hardware id; write 0x0000A001 or a decimal number")
    }
    return hardware
  }

  /// The options as they were given, for a printed command.
  var words: [String] {
    (imageVersion.map { ["--image-version", "\($0)"] } ?? [])
      + (hardware.map { ["--hardware", "\($0)"] } ?? [])
  }

  var identity: ImageIdentity { ImageIdentity(version: imageVersion, hardware: hardware) }
}
