import ArgumentParser
import OtaflashATT
import OtaflashBench
import OtaflashConsole
import OtaflashDevices
import OtaflashSimulation
import OtaflashUpdate

/// Measures the rate of a link without writing the device's flash.
struct Bench: TargetedCommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measure the rate of a device's link, and find its limit.",
    discussion: """
      Measures every combination of the lists. The device discards the data (sink mode), so its \
      flash is not written. A sim: device is measured in virtual time, or with --real-time at the \
      speed of its radio. With --image, sim: devices are updated in virtual time, and the update \
      times of other devices are predicted.
      """)

  @OptionGroup var target: DeviceOption

  @Option(
    name: .long,
    help: ArgumentHelp(
      "ATT_MTUs to request, 23 to 517; best = the size that fills the connection events.",
      valueName: "list"),
    transform: CommaList<MTUChoice>.parse)
  var mtu = CommaList([23, 185, 247, 498, 512].map(MTUChoice.bytes) + [.best])

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write modes: auto, with-response, without-response (default: the last two; with --image: "
        + "auto).", valueName: "list"),
    transform: CommaList<WriteMode>.parse)
  var mode: CommaList<WriteMode>?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The maximum number of bytes without an acknowledgement; device = the window of the device.",
      valueName: "list"),
    transform: CommaList<WindowChoice>.parse)
  var window = CommaList([WindowChoice.device])

  @Option(
    name: .long,
    help: ArgumentHelp("PHYs: 1M, 2M, coded; for a sim: device also S2, S8.", valueName: "list"),
    transform: CommaList<PHY>.parse)
  var phy: CommaList<PHY>?

  @Option(
    name: .long,
    help: ArgumentHelp("Connection intervals, 7.5ms to 4s.", valueName: "list"),
    transform: CommaList<ConnectionInterval>.parse)
  var interval: CommaList<ConnectionInterval>?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Bytes per transfer, at most the size of the device's slot (default: doubled until the rate "
        + "changes by less than 1%).", valueName: "size"),
    transform: ByteCount.parse)
  var size: ByteCount?

  @Option(
    name: .long,
    help: ArgumentHelp("Transfers per combination, 1 to 1000.", valueName: "count"))
  var `repeat`: WholeNumber = 5

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Write a plot of the result to this .svg file; 'rsvg-convert -o x.png x.svg' converts it to "
        + "PNG.",
      valueName: "path"),
    completion: .file(extensions: [PlotFile.suffix]),
    transform: PlotFile.parse)
  var plot: PlotFile?

  @Option(
    name: .long,
    help: ArgumentHelp("Compare with the --json output of an earlier run.", valueName: "path"),
    completion: .file())
  var baseline: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The minimum rate as a share of the rate in --baseline, such as 95% (default: 90%).",
      valueName: "percent"),
    transform: Percentage.parse)
  var failBelow: Percentage?

  @Flag(name: .long, help: "Measure a sim: device in real time.")
  var realTime = false

  @Option(
    name: .long,
    help: ArgumentHelp("The file with the device's key.", valueName: "path"),
    completion: .file())
  var keyFile: String?

  @OptionGroup var images: BenchImageOptions
  @OptionGroup var notification: NotifyOption
  @OptionGroup var capture: CaptureOption
  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: target.device.text) }
  var notifies: Bool { notification.notify }
  var captureFile: OutputFile? { capture.file }
  var inputFiles: [String] { [baseline, keyFile].compactMap(\.self) + images.paths }

  private static let repeatRange = 1...1000

  func validate() throws {
    guard Self.repeatRange.contains(self.repeat.value) else {
      throw ValidationError("--repeat \(self.repeat.value) is out of range; specify 1 to 1000")
    }
    if let size, size.bytes == 0 { throw ValidationError("--size must be at least 1") }
    if case .simulated = target.device.kind, images.setsTimes {
      throw ValidationError(
        "set flash times of a sim: device in its profile: sim:?erase=85ms&write=40ms")
    }
    if failBelow != nil, baseline == nil {
      throw ValidationError("--fail-below requires --baseline")
    }
    guard phy != nil || interval != nil else { return }
    switch target.device.kind {
    case .simulated, .last, .alias: return
    case .unix:
      throw ValidationError("--phy and --interval require a sim: device or a Bluetooth device")
    case .address, .name:
      guard phy?.elements.allSatisfy({ $0 == $0.withoutCoding }) ?? true else {
        throw ValidationError(
          "S2 and S8 require a sim: device; for other devices use coded, and the controller "
            + "chooses")
      }
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let earlier = try baseline.map { path throws(CommandFault) in try Self.baseline(path) }
    let pen = try plot?.pen(avoiding: session.inputs)
    let key = try keyFile.map { path throws(CommandFault) in try KeyFile.key(at: path) }
    let pair = try images.load(session)
    let sweep = BenchmarkSweep(
      key: key, capture: try session.capture?.file(), device: target.device.text)
    let links = try await measure(sweep, in: session)
    let rows = links.map(\.row)
    session.console.table(
      BenchmarkRow.titles, rows.map(\.cells), keeping: ["mode", "interval", "MTU"])
    tellOfUnsettled(rows, session)
    let title = "otaflash bench -d \(target.device.text)"
    if let pair {
      let found = try compare(pair, over: links, key: key, in: session)
      if let pen { try draw(ImagePlot(title: title, rows: found).document, with: pen, session) }
    } else if let pen {
      try draw(BenchmarkPlot(title: title, rows: rows).document, with: pen, session)
    }
    if let earlier { try compare(rows, with: earlier, session) }
    return .done(
      "measured", devices: [Ending.Device(id: target.device.text, outcome: "measured")])
  }

  /// The write modes to measure.
  var modes: [WriteMode] {
    mode?.elements ?? (images.image.isEmpty ? [.withResponse, .withoutResponse] : [.auto])
  }

  private static func baseline(_ path: String) throws(CommandFault) -> Baseline {
    do throws(BaselineFault) { return try Baseline.load(path) } catch { throw .baseline(error) }
  }

  /// Reports the number of rates that had not settled.
  private func tellOfUnsettled(_ rows: [BenchmarkRow], _ session: Session) {
    let count = rows.count { $0.typical.hasSettled == false }
    guard count > 0 else { return }
    session.console.note(
      "\(count) of \(rows.count) rates did not settle before the slot was full or a transfer would "
        + "have exceeded 20 s")
  }

  private func draw(
    _ document: String, with pen: PlotFile.Pen, _ session: Session
  ) throws(CommandFault) {
    try pen.write(document)
    session.console.note("plot    " + pen.file.path)
  }

  private func compare(
    _ rows: [BenchmarkRow], with earlier: Baseline, _ session: Session
  ) throws(CommandFault) {
    let shortfalls: [Baseline.Shortfall]
    do throws(BaselineFault) {
      shortfalls = try earlier.shortfalls(of: rows, below: wanted.share)
    } catch {
      throw .baseline(error)
    }
    for shortfall in shortfalls {
      session.console.note("slower: \(shortfall.sentence)")
    }
    guard let worst = shortfalls.min(by: { $0.share < $1.share }) else { return }
    throw .belowBaseline(count: shortfalls.count, worst: worst.sentence, wanted: wanted)
  }

  private var wanted: Percentage { failBelow ?? Percentage(90) }
}
