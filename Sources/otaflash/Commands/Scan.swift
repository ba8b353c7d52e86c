import ArgumentParser
import OtaflashATT
import OtaflashBlueZ
import OtaflashGATT

/// Lists the devices that advertise.
struct Scan: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "scan",
    abstract: "List the devices that advertise nearby.")

  @Option(
    name: .long,
    help: ArgumentHelp("Only devices whose name matches.", valueName: "regex"),
    transform: Self.pattern)
  var name: NamePattern?

  @Option(
    name: .long,
    help: ArgumentHelp("Only devices that advertise this service.", valueName: "uuid"),
    transform: Self.uuid)
  var service: BluetoothUUID?

  @Option(
    name: .long, parsing: .unconditional,
    help: ArgumentHelp("Only devices at least this strong, such as -80.", valueName: "dBm"))
  var rssi: Int8?

  @Flag(name: .long, help: "Go on until interrupted, and print every advertisement.")
  var watch = false

  @Flag(name: .long, help: "Devices without a name too.")
  var all = false

  @OptionGroup var global: GlobalOptions

  private static let duration = Duration.seconds(5)
  /// `--watch` ends by a signal; this is its bound without one.
  private static let watchLimit = Duration.seconds(7 * 24 * 3600)
  private static let rssiRange: ClosedRange<Int8> = -127...20

  private static func pattern(_ text: String) throws -> NamePattern {
    guard let pattern = NamePattern(text) else {
      throw ValidationError("'\(text)' is no regular expression")
    }
    return pattern
  }

  private static func uuid(_ text: String) throws -> BluetoothUUID {
    guard let uuid = BluetoothUUID(text) else {
      throw ValidationError("'\(text)' is no UUID; write 180D or the 36-character form")
    }
    return uuid
  }

  func validate() throws {
    if let rssi, !Self.rssiRange.contains(rssi) {
      throw ValidationError("--rssi \(rssi) is out of range; it is -127 to 20 dBm")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let limit = global.timeout?.duration ?? (watch ? Self.watchLimit : Self.duration)
    let everything = all
    let filter = DiscoveryFilter(
      name: name, services: service.map { [$0] } ?? [], rssiMinimum: rssi
    ) { everything || $0.name != nil }
    let console = session.console
    let isWatching = watch
    console.note("scanning for \(Text.seconds(limit))", verbosity: watch ? 1 : 0)
    if watch { console.result(Text.table([ScanResult.columns])[0]) }
    let found = try await BluetoothAir.survey(
      filter, adapter: global.adapterNumber, for: limit, duplicates: watch,
      endsWhenCancelled: watch
    ) { sighting in
      console.event("advertisement", sighting.members)
      if isWatching { console.result(Text.table([ScanResult.columns, sighting.row])[1]) }
    }
    if !watch { list(found, on: session) }
    if !found.isEmpty { try DeviceRecords.open(session).seen(found) }
    return Ending(
      exit: session.interruption.signal.map { .signal($0) } ?? .done, outcome: "listed")
  }

  private func list(_ found: [ScanResult], on session: Session) {
    let strongest = found.sorted { ($0.rssi ?? .min) > ($1.rssi ?? .min) }
    guard let first = strongest.first else {
      session.console.note("no device was heard; a device that is connected does not advertise")
      return
    }
    for line in Text.table([ScanResult.columns] + strongest.map(\.row)) {
      session.console.result(line)
    }
    session.console.result("next:   " + session.command("info", "-d", first.address.description))
  }
}
