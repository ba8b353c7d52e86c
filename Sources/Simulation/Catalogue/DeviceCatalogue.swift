extension SimulationProfile {
  /// The kinds of simulated devices, a row each: names, keys, faults, service and firmware are what
  /// its settings say.
  static let allKinds: [any KindSettings.Type] = [
    ReceiverSettings.self,
    SMPServerSettings.self,
    SecureBootloaderSettings.self,
    LegacyBootloaderSettings.self,
  ]

  static let presets = allKinds.flatMap { $0.presets }
}
