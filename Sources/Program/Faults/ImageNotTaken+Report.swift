import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashUpdate

extension FaultReport {
  /// Describes an image that no protocol of the device supports, and a suitable part of its file.
  package init(_ fault: UpdateFault, of package: FirmwarePackage, in context: FaultContext) {
    let report = FaultReport(fault, in: context)
    guard let outer = package.parts.first, let embedded = EmbeddedImage(in: outer) else {
      self = report
      return
    }
    let region = embedded.region(in: outer)
    self.init(
      report.code, report.what,
      why: report.why + " The file holds " + embedded.words(in: outer) + ".",
      help: region.map { context.again(choosing: "--region", "\($0)") } ?? report.help)
  }

  /// Returns the command that shows the first bytes of the file.
  package static func look(isText: Bool, _ context: FaultContext) -> String {
    guard let image = context.subject.image, image != "-" else {
      return context.command(["image", "info", "--help"])
    }
    let file = "-- " + ShellWords.quote(image)
    return isText ? "head -c 256 \(file)" : "od -A d -t x1 -N 64 \(file)"
  }
}

extension FaultContext {
  /// Returns this run's command with options for the unknown values; the values of these options
  /// are examples.
  func againSaying(version: Bool, hardware: Bool) -> String {
    working(
      arguments.filter { $0 != "--restart" },
      adding: (version ? ["--image-version", "1.0.0"] : [])
        + (hardware ? ["--hardware", "0x0000A001"] : []))
  }
}
