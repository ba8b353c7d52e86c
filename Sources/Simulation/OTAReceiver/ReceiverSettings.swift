import OTAReceiver
import OtaflashATT

/// The settings of a device with the OTA service.
struct ReceiverSettings: KindSettings {
  var receiver = ReceiverOptions()

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
    KindKey("delta", "the device accepts patches (yes)", \.receiver.takesPatches),
    KindKey(
      "base",
      "the base of patches: lost and damaged are unreadable, former is the previous image, spoilt "
        + "changes during the transfer (right)", \.receiver.base),
    KindKey(
      "flip", "one bit of the N-th data write of a boot is wrong", "a count, 1 or more",
      \.receiver.flippedWrite, Quantity.count),
    KindKey(
      "erase-ahead", "the device erases pages before their data arrives (no)",
      \.receiver.erasesAhead),
    KindKey(
      "keep-pages",
      "pages that hold their data are neither erased nor written; not with erase-ahead (no)",
      \.receiver.keepsPages),
    KindKey(
      "patch-level",
      "patches of format 1 (1), also format 2 with heatshrink (2), also with the range coder (3)",
      "1, 2 or 3", \.receiver.patchLevel
    ) { Quantity.count($0).flatMap { (1...3).contains($0) ? $0 : nil } },
    KindKey(
      "decode", "the rate of the patch decoder in image bytes per second (no time)",
      "a rate such as 70K, 4K or more", \.receiver.decodingRate, decodingRate),
  ]
  static let foreignKeys: Set<ProfileKey> = []

  /// Parses a rate that PATCH INFO can report.
  private static func decodingRate(_ text: String) -> Int?? {
    guard let rate = Quantity.size(text), rate >= Int(OTA_DECODE_UNIT) else { return nil }
    return .some(rate)
  }

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
