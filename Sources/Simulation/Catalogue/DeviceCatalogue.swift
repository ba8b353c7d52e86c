extension SimulationProfile {
  /// The kinds of simulated devices, one row each; their settings types define names, keys, faults,
  /// service and firmware.
  static let allKinds: [any KindSettings.Type] = [
    ReceiverSettings.self,
    SMPServerSettings.self,
    SecureBootloaderSettings.self,
    LegacyBootloaderSettings.self,
  ]

  static let presets = allKinds.flatMap { $0.presets }
}
