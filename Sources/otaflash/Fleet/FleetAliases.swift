#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashState

extension Session {
  /// The user's own names for devices. A command reads them once, before it does anything.
  func aliases() throws(CommandFault) -> DeviceAliases {
    try DeviceLookup(environment: environment).aliases()
  }
}

extension DeviceAliases {
  /// The id of the device that is called so; `nil` for what is no alias.
  func device(of text: String) -> FleetDevice.ID? {
    do throws(DeviceAlias.Fault) { return self[try DeviceAlias(text)] } catch { return nil }
  }

  /// What is wrong with a name that is nobody's.
  func words(ofUnknown alias: DeviceAlias) -> String {
    let nearest = Suggestion.nearest(
      to: alias.description, among: all.map(\.alias.description))
    return "'\(alias)' is neither a device nor one of your aliases; "
      + (nearest.map { "did you mean '\($0)'?" } ?? "write its address")
  }
}

extension OperatorCommand {
  /// The same with the devices' ids in the place of aliases. What a run knows by a name keeps it:
  /// the alias may be another device's since.
  func resolvingAliases(by aliases: DeviceAliases, in run: FleetRun) -> OperatorCommand {
    guard case .retry(let devices) = self else { return self }
    return .retry(
      devices.map { name in
        run.device(called: name) == nil ? aliases.device(of: name) ?? name : name
      })
  }
}
#endif
