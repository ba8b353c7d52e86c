import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashState

/// Shows one known device and its campaign runs.
struct DevicesShow: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show the record of a device and the history of its updates.",
    discussion: """
      The history has a row for each campaign run that included the device, newest first. For \
      updates outside of campaigns, only the last update is recorded.
      """)
  static let words = "devices show"

  @Argument(
    help: "The device: an address, unix:/path, sim:PROFILE, last, or its alias.",
    completion: DeviceWords.completion)
  var device: String

  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: device) }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let aliases = try StateStore.open(session).aliases()
    let id = try id(in: session)
    let record = try KnownDevices(session).all().first { $0.id == id }
    let alias = aliases.alias(of: id)
    let history = try DeviceHistory(of: id, in: session)
    guard record != nil || alias != nil || !history.isEmpty else { throw .unknownDevice(device) }
    if let record { session.console.event("known_device", record.members(alias: alias)) }
    let facts = record.map { $0.facts(alias: alias) } ?? [["device", id]]
    for line in Text.table(facts + history.facts) { session.console.result(line) }
    history.show(on: session.console)
    return .done("shown", devices: [Ending.Device(id: id, outcome: "shown")])
  }

  /// Returns the id of the device. A word that is not an alias may be the name of a simulated board
  /// in a campaign.
  private func id(in session: Session) throws(CommandFault) -> String {
    let selector: DeviceSelector
    do { selector = try DeviceSelector.parse(device) } catch { return device }
    do throws(CommandFault) {
      return try DeviceLookup(environment: session.environment).resolved(selector).id
    } catch {
      guard case .noSuchAlias = error else { throw error }
      return device
    }
  }
}

extension DeviceRecord {
  /// Returns a row for each known field.
  fileprivate func facts(alias: DeviceAlias?) -> [[String]] {
    let rows: [(String, String?)] = [
      ("device", id), ("alias", alias?.description), ("name", name), ("address", address),
      ("version", lastVersion.map { "\($0.version), read \(Timestamp.text($0.at))" }),
      (
        "last update",
        lastFlashing.map { flashing in
          flashing.outcome.rawValue + (flashing.version.map { ", image \($0)" } ?? "")
            + ", " + Timestamp.text(flashing.at)
        }
      ), ("last connected", lastConnected.map { Timestamp.text($0) }),
      ("last seen", Timestamp.text(lastSeen)),
    ]
    return rows.compactMap { name, value in value.map { [name, $0] } }
  }
}
