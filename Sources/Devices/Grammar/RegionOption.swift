import ArgumentParser
import OtaflashFirmware

extension AddressRegion: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

/// Which addresses of a file are the image.
package struct RegionOption: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take what the file has from one address up to another, as 0x1000..0x80000.",
      discussion: """
        For \(FirmwareImage.Format.addressed) files. By default all of it is the image but what no \
        update writes, such as UICR and option bytes.
        """,
      valueName: "from..to"))
  package var region: AddressRegion?

  package init() {}

  /// As it was given, for a command that is printed.
  package var words: [String] { region.map { ["--region", "\($0)"] } ?? [] }
}
