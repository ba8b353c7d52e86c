/// A profile with a name of its own: what it is, and what it sets.
struct ProfilePreset: Sendable {
  let name: String
  /// One line for a person who chooses.
  let summary: String
  let apply: @Sendable (inout SimulationProfile) -> Void
}

extension SimulationProfile {
  static let presets = [
    ProfilePreset(
      name: "plain",
      summary: "a good device: 2M, 15 ms, 4 KiB pages, 85 ms to erase and 40 ms to write each"
    ) { _ in },
    ProfilePreset(name: "fast", summary: "the plain device with flash that takes no time") {
      $0.eraseTime = .zero
      $0.writeTimePer4KiB = .zero
    },
    ProfilePreset(
      name: "erase-400ms", summary: "the plain device with flash that takes 400 ms to erase a page"
    ) { $0.eraseTime = .milliseconds(400) },
    ProfilePreset(
      name: "erase-20s", summary: "the plain device with flash that takes 20 s to erase a page"
    ) { $0.eraseTime = .seconds(20) },
    ProfilePreset(name: "smp", summary: "a Zephyr device with the SMP service and MCUboot") {
      $0.mtu = 498
      $0.device = .smpServer(SMPServerSettings())
    },
    ProfilePreset(
      name: "nordic-dfu", summary: "a buttonless application and Nordic's Secure DFU boot loader"
    ) {
      $0.becomeNordic()
      $0.device = .secureBootLoader(SecureBootLoaderSettings())
    },
    ProfilePreset(
      name: "nordic-legacy",
      summary: "an application and Nordic's legacy boot loader of SDK 11, or Adafruit's"
    ) {
      $0.becomeNordic()
      $0.device = .legacyBootLoader(LegacyBootLoaderSettings())
    },
    ProfilePreset(
      name: "infinitime", summary: "a watch that takes Nordic's legacy DFU in its application"
    ) {
      $0.becomeNordic()
      var settings = LegacyBootLoaderSettings()
      settings.variant = .infinitime
      $0.device = .legacyBootLoader(settings)
    },
  ]

  /// An nRF52 with the parameters of SDK 15: 41 µs a word of flash, an ATT_MTU of 247, and links
  /// that are closed before a reset.
  private mutating func becomeNordic() {
    mtu = 247
    writeTimePer4KiB = .microseconds(41 * 1024)
    linkDrop = .close
  }
}
