import ArgumentParser
import OtaflashState

/// The registry: devices seen and flashed, last connected first.
struct Devices: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List the devices seen and flashed, last connected first.")

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let devices = try KnownDevices(session).all()
    for device in devices { session.console.event("known_device", device.members) }
    guard !devices.isEmpty else {
      session.console.note("no device is known yet; " + session.command("scan") + " looks for some")
      return .done("listed")
    }
    for line in Text.table([DeviceRecord.columns] + devices.map(\.row)) {
      session.console.result(line)
    }
    return .done("listed")
  }
}

extension DeviceRecord {
  static let columns = ["DEVICE", "NAME", "VERSION", "OUTCOME", "LAST CONNECTED", "LAST SEEN"]

  var row: [String] {
    [
      id, name ?? "", lastFlashing?.version?.description ?? "",
      lastFlashing?.outcome.rawValue ?? "", lastConnected.map { Timestamp.text($0) } ?? "",
      Timestamp.text(lastSeen),
    ]
  }

  var members: [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "name": name.map { .string($0) },
      "address": address.map { .string($0) }, "last_seen": .string(Timestamp.text(lastSeen)),
      "last_connected": lastConnected.map { .string(Timestamp.text($0)) },
      "version": .text(lastFlashing?.version),
      "outcome": lastFlashing.map { .string($0.outcome.rawValue) },
      "flashed_at": lastFlashing.map { .string(Timestamp.text($0.at)) },
    ])
  }
}
