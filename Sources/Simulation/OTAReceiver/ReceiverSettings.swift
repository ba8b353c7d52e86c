import OtaflashATT

/// What only a device with the OTA service has to set.
struct ReceiverSettings: KindSettings {
  /// What it does with patches against what it runs (docs/ota-service.md, 13).
  enum Patches: String, CaseIterable, Sendable {
    case yes, no
    /// It takes them, but reads what it runs wrong once it has found its checksum right.
    case spoilt
  }

  var patches = Patches.yes
  /// It erases pages of its slot before their data comes, and the whole slot while nothing is held
  /// (14).
  var erasesAhead = false

  static let presets = [
    ProfilePreset(
      name: "plain",
      summary: "a good device: 2M, 15 ms, 4 KiB pages, 85 ms to erase and 40 ms to write each",
      device: .otaReceiver),
    ProfilePreset(
      name: "fast", summary: "the plain device with flash that takes no time", device: .otaReceiver
    ) {
      $0.eraseTime = .zero
      $0.writeTimePer4KiB = .zero
    },
    ProfilePreset(
      name: "erase-400ms", summary: "the plain device with flash that takes 400 ms to erase a page",
      device: .otaReceiver
    ) { $0.eraseTime = .milliseconds(400) },
    ProfilePreset(
      name: "erase-20s", summary: "the plain device with flash that takes 20 s to erase a page",
      device: .otaReceiver
    ) { $0.eraseTime = .seconds(20) },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("delta", "it takes patches; spoilt: what it runs changes meanwhile (yes)", \.patches),
    KindKey("erase-ahead", "it erases pages before their data comes (no)", \.erasesAhead),
  ]
  static let foreignKeys: Set<ProfileKey> = []
  static let faults = Set(Fault.allCases)

  var service: BluetoothUUID { DeviceUUID.otaService }
  var applicationName: String { "otaflash board" }

  func makeFirmware(of parts: BoardParts) throws(FlashFault) -> any BoardFirmware {
    try ReceiverFirmware(self, of: parts)
  }
}

extension DeviceKind {
  /// The OTA service (docs/ota-service.md).
  public static let otaReceiver = DeviceKind(ReceiverSettings())
}
