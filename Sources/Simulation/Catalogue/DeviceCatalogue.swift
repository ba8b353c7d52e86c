extension SimulationProfile {
  /// The kinds of simulated devices, one entry each. The settings type of a kind defines its names,
  /// keys, faults, service and firmware.
  static let allKinds: [any KindSettings.Type] = [
    ReceiverSettings.self,
    SMPServerSettings.self,
    SecureBootloaderSettings.self,
    LegacyBootloaderSettings.self,
    EspressifSettings.self,
    SilabsSettings.self,
    TelinkServerSettings.self,
    SUOTASettings.self,
    OADServerSettings.self,
    MicrobitSettings.self,
  ]

  static let presets = allKinds.flatMap { $0.presets }
}
