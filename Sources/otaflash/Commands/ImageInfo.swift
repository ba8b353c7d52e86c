import ArgumentParser
import OtaflashDevices
import OtaflashFirmware

struct ImageInfo: Subcommand {
  static let words = "image info"
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Show the format, versions, hashes and signatures of a firmware file.",
    discussion: """
      Reads raw binaries, \(FirmwareImage.Format.addressed) files, MCUboot images in any of these, \
      and ZIP packages for Nordic DFU and Device Manager. A wrong hash is reported, but is not an \
      error. For a patch of detools or esp_delta_ota, shows its base and its new image.
      """)

  @Argument(help: "The firmware file, or - for standard input.", completion: .file())
  var file: String
  @OptionGroup var identity: IdentityOptions
  @OptionGroup var addresses: RegionOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(image: file) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let package = try ImageSource.loadPackage(
      file, saying: identity.identity, in: addresses.region, session)
    session.console.event(package)
    for line in package.lines { session.console.result(line) }
    return .done("described")
  }
}
