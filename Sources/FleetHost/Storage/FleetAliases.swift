#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashState

extension Session {
  /// Returns the user's aliases of devices. A command reads them once at its start.
  package func aliases() throws(CommandFault) -> DeviceAliases {
    try DeviceLookup(environment: environment).aliases()
  }
}

extension DeviceAliases {
  /// Returns the id of the device with the alias; `nil` if the text is not an alias.
  func device(of text: String) -> FleetDevice.ID? {
    do throws(DeviceAlias.Fault) { return self[try DeviceAlias(text)] } catch { return nil }
  }

  /// Returns the message for an unknown name.
  func words(ofUnknown alias: DeviceAlias) -> String {
    let nearest = Suggestion.nearest(
      to: alias.description, among: all.map(\.alias.description))
    return "'\(alias)' is neither a device nor an alias; "
      + (nearest.map { "did you mean '\($0)'?" } ?? "write its address")
  }
}

extension OperatorCommand {
  /// Returns the command with device ids in place of aliases. Names of devices in the run take
  /// precedence, because the alias may since have been assigned to another device.
  package func resolvingAliases(by aliases: DeviceAliases, in run: FleetRun) -> OperatorCommand {
    guard case .retry(let devices) = self else { return self }
    return .retry(
      devices.map { name in
        run.device(called: name) == nil ? aliases.device(of: name) ?? name : name
      })
  }
}
#endif
