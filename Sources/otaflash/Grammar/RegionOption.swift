import ArgumentParser
import OtaflashFirmware

extension AddressRegion: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

/// Which addresses of a file are the image.
struct RegionOption: ParsableArguments, Sendable {
  @Option(
    name: .long,
    help: ArgumentHelp(
      "Take what the file has from one address up to another, as 0x1000..0x80000.",
      discussion: """
        For \(FirmwareImage.Format.addressed) files. By default all of it is the image but what no \
        update writes, such as UICR and option bytes.
        """,
      valueName: "from..to"))
  var region: AddressRegion?

  /// As it was given, for a command that is printed.
  var words: [String] { region.map { ["--region", "\($0)"] } ?? [] }
}
