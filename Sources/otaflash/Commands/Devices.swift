import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashState

/// Lists the registry: devices seen and flashed, last connected first, with their aliases.
struct Devices: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List known devices, last connected first, and manage their aliases.",
    discussion: """
      An alias can replace a device's address in every command. VERSION is the version that the \
      device reported last.
      """,
    subcommands: [DevicesShow.self, DevicesName.self, DevicesUnname.self])

  @Option(
    name: .long,
    help: ArgumentHelp(
      "List only devices whose recorded version matches: '<1.4.0', '>=1.2.0,<1.4.0', 1.3.0.",
      valueName: "condition"),
    transform: VersionCondition.parse)
  var version: VersionCondition?

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let aliases = try StateStore.reading(session).aliases()
    let all = try KnownDevices(session).all()
    let devices = all.filter { fits($0) }
    let known = Set(all.map(\.id))
    let rows = devices.map { ($0, aliases.alias(of: $0.id)) }
    let unseen = version == nil ? aliases.all.filter { !known.contains($0.device) } : []
    for (device, alias) in rows {
      session.console.event("known_device", device.members(alias: alias))
    }
    for (alias, device) in unseen {
      session.console.event(alias, of: device)
    }
    noteUnread(all, in: session)
    guard !rows.isEmpty || !unseen.isEmpty || version != nil else {
      session.console.note("no device is known yet; find devices with " + session.command("scan"))
      return .done("listed")
    }
    let blanks = [String](repeating: "", count: DeviceRecord.columns.count - 2)
    session.console.table(
      DeviceRecord.columns,
      rows.map { $0.row(alias: $1) }
        + unseen.map { [$0.device, $0.alias.description] + blanks }, keeping: ["DEVICE"])
    return .done("listed")
  }

  private func fits(_ device: DeviceRecord) -> Bool {
    guard let version else { return true }
    return device.lastVersion.map { version.holds(for: $0.version) } ?? false
  }

  private func noteUnread(_ devices: [DeviceRecord], in session: Session) {
    guard version != nil, let unread = devices.first(where: { $0.lastVersion == nil }) else {
      return
    }
    let count = devices.count { $0.lastVersion == nil }
    session.console.note(
      "note: the version of " + Text.counted(count, "known device") + " is unknown; "
        + "read it with " + session.command("info", "-d", unread.id))
  }
}

/// Gives a device an alias.
struct DevicesName: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "name",
    abstract: "Give a device an alias that every command accepts.",
    discussion: """
      A device has one alias; a new alias replaces it. To reuse the alias of another device, \
      first remove it from that device (devices unname).
      """)
  static let words = "devices name"

  @Argument(
    help: "The device: an address, unix:/path, sim:PROFILE, last, or its current alias.",
    completion: DeviceWords.completion, transform: DeviceSelector.parse)
  var device: DeviceSelector

  @Argument(help: "The alias: letters, digits, '-', '_' and '.', such as door-01.")
  var alias: String

  @OptionGroup var global: GlobalOptions

  var subject: Subject { Subject(device: device.text) }

  private func checkedAlias() throws -> DeviceAlias {
    do throws(DeviceAlias.Fault) { return try DeviceAlias(alias) } catch {
      throw ValidationError("'\(alias)' is not a valid alias: \(error)")
    }
  }

  func validate() throws {
    _ = try checkedAlias()
    if case .name = device.kind {
      throw ValidationError(
        "'\(device.text)' may match another device later; an alias requires a specific device, "
          + "such as an address that scan lists")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let alias: DeviceAlias
    do { alias = try checkedAlias() } catch { preconditionFailure("checked by validate") }
    let id = try DeviceLookup(environment: session.environment).resolved(device).id
    let former = try StateStore.open(session).name(id, alias)
    session.console.event(alias, of: id)
    session.console.result("\(alias)  \(id)" + (former.map { "  (was \($0))" } ?? ""))
    session.console.result("next:   " + session.command("info", "-d", alias.description))
    return .done("named", devices: [Ending.Device(id: id, outcome: "named")])
  }
}

/// Removes an alias.
struct DevicesUnname: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "unname", abstract: "Remove an alias from its device.")
  static let words = "devices unname"

  @Argument(help: "The alias.", completion: DeviceWords.completionOfAliases) var alias: String

  @OptionGroup var global: GlobalOptions

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let lookup = DeviceLookup(environment: session.environment)
    let name: DeviceAlias
    do throws(DeviceAlias.Fault) { name = try DeviceAlias(alias) } catch {
      throw .noSuchAlias(alias, nearest: nil, mayBeDevice: false)
    }
    let device: String
    do throws(CommandFault) { device = try lookup.device(of: name).id } catch {
      guard case .noSuchAlias(let alias, let nearest, _) = error else { throw error }
      throw .noSuchAlias(alias, nearest: nearest, mayBeDevice: false)
    }
    try StateStore.open(session).unname(name)
    session.console.result("removed the alias \(name) of \(device)")
    return .done("unnamed", devices: [Ending.Device(id: device, outcome: "unnamed")])
  }
}

extension Console {
  fileprivate func event(_ alias: DeviceAlias, of device: String) {
    event("alias", ["alias": .string(alias.description), "device": .string(device)])
  }
}

extension DeviceRecord {
  static let columns = [
    "DEVICE", "ALIAS", "NAME", "VERSION", "OUTCOME", "LAST CONNECTED", "LAST SEEN",
  ]

  func row(alias: DeviceAlias?) -> [String] {
    [
      id, alias?.description ?? "", name ?? "", lastVersion?.version.description ?? "",
      lastFlashing?.outcome.rawValue ?? "", lastConnected.map { Timestamp.ago($0) } ?? "",
      Timestamp.ago(lastSeen),
    ]
  }

  func members(alias: DeviceAlias?) -> [JSONValue.Member] {
    JSONValue.fields([
      "id": .string(id), "alias": .text(alias), "name": name.map { .string($0) },
      "address": address.map { .string($0) }, "last_seen": .string(Timestamp.text(lastSeen)),
      "last_connected": lastConnected.map { .string(Timestamp.text($0)) },
      "version": .text(lastVersion?.version),
      "version_at": lastVersion.map { .string(Timestamp.text($0.at)) },
      "image_version": .text(lastFlashing?.version),
      "outcome": lastFlashing.map { .string($0.outcome.rawValue) },
      "flashed_at": lastFlashing.map { .string(Timestamp.text($0.at)) },
    ])
  }
}
