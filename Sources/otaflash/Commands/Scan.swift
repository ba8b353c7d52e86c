import ArgumentParser
import OtaflashATT
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashGATT

/// Lists the devices that advertise.
struct Scan: Subcommand {
  static let takesSimulatedAir = true
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "List the advertising devices in range.",
    discussion: """
      With --watch, a terminal shows a live table, strongest signal first; other outputs receive \
      a line for each advertisement. With an image, the table marks the devices that the image \
      fits. Choose a device with the arrow keys; Enter flashes it.
      """)

  @Argument(help: "With --watch: the image that Enter flashes.", completion: .file())
  var image: String?

  @Option(
    name: .long,
    help: ArgumentHelp("List only devices with a matching name.", valueName: "regex"),
    transform: Self.pattern)
  var name: NamePattern?

  @Option(
    name: .long,
    help: ArgumentHelp("List only devices that advertise this service.", valueName: "uuid"),
    transform: Self.uuid)
  var service: BluetoothUUID?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("List only devices with at least this RSSI, such as -80.", valueName: "dBm"))
  var rssi: Int8?

  @Flag(name: .long, help: "Show a live table until q is pressed or a signal arrives.")
  var watch = false

  @Flag(name: .long, help: "Include devices without a name.")
  var all = false

  @OptionGroup var global: GlobalOptions

  private static let duration = Duration.seconds(5)
  /// The time limit of `--watch`; usually a signal or a key ends it first.
  private static let watchLimit = Duration.seconds(7 * 24 * 3600)
  private static let rssiRange: ClosedRange<Int8> = -127...20

  private static func pattern(_ text: String) throws -> NamePattern {
    guard let pattern = NamePattern(text) else {
      throw ValidationError("'\(text)' is not a regular expression")
    }
    return pattern
  }

  private static func uuid(_ text: String) throws -> BluetoothUUID {
    guard let uuid = BluetoothUUID(text) else {
      throw ValidationError("'\(text)' is not a UUID; write 180D or the 36-character form")
    }
    return uuid
  }

  var subject: Subject { Subject(image: image) }
  var inputFiles: [String] { image.map(ImageSource.files) ?? [] }

  func validate() throws {
    guard image == nil || watch else {
      throw ValidationError(
        "an image requires --watch: the table sends the image to the selected device")
    }
    if let rssi, !Self.rssiRange.contains(rssi) {
      throw ValidationError("--rssi \(rssi) is out of range; specify -127 to 20 dBm")
    }
  }

  private var filter: ScanFilter {
    ScanFilter(name: name, service: service, rssiMinimum: rssi, takesNameless: all)
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let settings = session.console.settings
    let isSeen = settings.progress == .bar && FileOutput.standardOutput.isTerminal
    if watch, isSeen { return try await show(in: session) }
    let limit = global.timeout?.duration ?? (watch ? Self.watchLimit : Self.duration)
    let console = session.console
    let isWatching = watch
    console.note("scanning for \(Text.seconds(limit))", verbosity: watch ? 1 : 0)
    if watch { console.result(Text.table([ScanResult.columns])[0]) }
    let found = try await Air(global).survey(
      filter, for: limit, duplicates: watch, endsWhenCancelled: watch
    ) { sighting in
      console.event("advertisement", sighting.members)
      if isWatching { console.result(Text.table([ScanResult.columns, sighting.row])[1]) }
    }
    if !watch { list(found, on: session) }
    return try ended(found, in: session)
  }

  private func ended(
    _ found: [ScanResult], in session: Session
  ) throws(CommandFault) -> Ending {
    if !found.isEmpty { try StateStore.open(session).seen(found) }
    return Ending(
      exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "listed")
  }

  /// Shows a live table, then its last content.
  private func show(in session: Session) async throws(CommandFault) -> Ending {
    let fit = try image.map { path throws(CommandFault) in
      ResourceSource.recognizes(path)
        ? try ImageFit(ResourceSource.load(path))
        : try ImageFit(ImageSource.loadPackage(path, saying: ImageIdentity(), in: nil, session))
    }
    let aliases = try DeviceLookup(environment: session.environment).aliases().all
    let hasKeys = Keyboard.isAvailable(in: session)
    let table = LiveTable(
      fit: fit,
      aliases: Dictionary(aliases.map { ($0.device, $0.alias.description) }) { first, _ in first },
      isChoice: fit != nil && hasKeys, hasKeys: hasKeys)
    let limit = global.timeout?.duration ?? Self.watchLimit
    let scan = LiveScan(table, filter, for: limit, in: session)
    let ending = try await scan.run()
    guard case .chosen(let id) = ending, let image else {
      list(scan.discovered, on: session)
      return try ended(scan.discovered, in: session)
    }
    let records = try StateStore.open(session)
    records.seen(scan.discovered)
    records.chosen(id)
    let words = ["flash", image, "-d", id] + global.words
    session.console.note("  " + session.context.command(words))
    return Ending(exit: .done, outcome: "chosen", next: words)
  }

  private func list(_ found: [ScanResult], on session: Session) {
    let strongest = found.sorted { ($0.rssi ?? .min) > ($1.rssi ?? .min) }
    guard let first = strongest.first else {
      session.console.note("no device found; a connected device does not advertise")
      return
    }
    for line in Text.table([ScanResult.columns] + strongest.map(\.row)) {
      session.console.result(line)
    }
    session.console.result("next:   " + session.command("info", "-d", first.id))
  }
}
