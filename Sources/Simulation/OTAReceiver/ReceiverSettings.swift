import OtaflashATT

/// What only a device with the OTA service has to set.
struct ReceiverSettings: KindSettings {
  /// What has become of the image that runs, against which patches are made.
  enum Base: String, CaseIterable, Sendable {
    case right
    /// It cannot be read.
    case lost
    /// PATCH INFO tells the image that ran before the last update.
    case former
    /// Its bytes are not those of its CRC32, which is seen when they are read.
    case damaged
    /// It changes after its CRC32 was found right.
    case spoilt
  }

  /// It takes patches (docs/ota-service.md, 13).
  var takesPatches = true
  var base = Base.right
  /// Which data write of each boot arrives with a wrong bit; 0 = none.
  var flippedWrite = 0
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
    KindKey("delta", "it takes patches (yes)", \.takesPatches),
    KindKey(
      "base",
      "the image that runs, for patches: lost and damaged cannot be read, former is told, spoilt "
        + "changes meanwhile (right)", \.base),
    KindKey(
      "flip", "one bit of the N-th data write of a boot is wrong", "a count, 1 or more",
      \.flippedWrite, Quantity.count),
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
