import ArgumentParser
import OtaflashFirmware

extension AddressRegion: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

/// The address range of a file that contains the image.
package struct RegionOption: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Use only one address range of the file, such as 0x1000..0x80000.",
      discussion: """
        For \(FirmwareImage.Format.addressed) files. By default, the image is all data except \
        regions that updates do not write, such as UICR and option bytes.
        """,
      valueName: "from..to"))
  package var region: AddressRegion?

  package init() {}

  /// The option as given, for printed commands.
  package var words: [String] { region.map { ["--region", "\($0)"] } ?? [] }
}
