import OtaflashATT

/// The settings of a device with the OTA service.
struct ReceiverSettings: KindSettings {
  /// The state of the running image, which is the base of patches.
  enum Base: String, CaseIterable, Sendable {
    case right
    /// The image cannot be read.
    case lost
    /// PATCH INFO reports the image before the last update.
    case former
    /// The bytes of the image do not match its CRC32, which is detected when they are read.
    case damaged
    /// The image changes after its CRC32 was verified.
    case spoilt
  }

  /// Whether the device accepts patches (docs/ota-service.md, 13).
  var takesPatches = true
  var base = Base.right
  /// The number of the data write that arrives with a bit error in each boot; 0 = no data write.
  var flippedWrite = 0
  /// Whether the device erases pages of its slot before their data arrives, and the complete slot
  /// while the slot holds no data (14).
  var erasesAhead = false
  /// Whether the device neither erases nor writes a page that already holds its data (15).
  var keepsPages = false

  static let presets = [
    ProfilePreset(
      name: "plain",
      summary:
        "no faults; 2M, 15 ms; 4 KiB pages with 85 ms to erase and 40 ms to write",
      device: .otaReceiver),
    ProfilePreset(
      name: "fast", summary: "the plain device, with flash that has no delays", device: .otaReceiver
    ) {
      $0.eraseTime = .zero
      $0.writeTimePer4KiB = .zero
    },
    ProfilePreset(
      name: "erase-400ms", summary: "the plain device with 400 ms to erase a flash page",
      device: .otaReceiver
    ) { $0.eraseTime = .milliseconds(400) },
    ProfilePreset(
      name: "erase-20s", summary: "the plain device with 20 s to erase a flash page",
      device: .otaReceiver
    ) { $0.eraseTime = .seconds(20) },
  ]

  static let keys: [KindKey<Self>] = [
    KindKey("delta", "the device accepts patches (yes)", \.takesPatches),
    KindKey(
      "base",
      "the base of patches: lost and damaged are unreadable, former is the previous image, spoilt "
        + "changes during the transfer (right)", \.base),
    KindKey(
      "flip", "one bit of the N-th data write of a boot is wrong", "a count, 1 or more",
      \.flippedWrite, Quantity.count),
    KindKey("erase-ahead", "the device erases pages before their data arrives (no)", \.erasesAhead),
    KindKey(
      "keep-pages",
      "pages that hold their data are neither erased nor written; not with erase-ahead (no)",
      \.keepsPages),
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
