import OtaflashFirmware

/// A range of versions of Adafruit's bootloader that lose packets or fail. The firmware revision
/// that the bootloader reports identifies the version.
struct KnownBootloader: Equatable, Sendable {
  /// The consequence for an update.
  enum Consequence: Equatable, Sendable {
    /// The transfer starts with the pace that has this index in `LegacyDFUPace.ladder`.
    case paceStep(Int)
    /// Every transfer fails, and the device loses its application.
    case loss
  }

  /// The affected versions.
  let versions: Range<FirmwareVersion>
  /// The fault, as a clause about the bootloader.
  let fault: String
  /// The recommended actions, as complete sentences.
  let advice: String
  let consequence: Consequence
  /// The source of these facts.
  let source: String

  /// The rows, each with its source.
  static let all = [
    KnownBootloader(
      versions: FirmwareVersion(0, 0, 0)..<FirmwareVersion(0, 10, 0),
      fault: "has only 8 packet buffers, so packets are sent slowly",
      advice: "If the update fails, the device stays in its bootloader; flash it again. "
        + "Version 0.10.0 has 16 buffers; install it over USB.",
      consequence: .paceStep(2),
      source: "Adafruit_nRF52_Bootloader 0.9.2, src/sdk_config.h (HCI_RX_BUF_QUEUE_SIZE); issue 306"
    ),
    KnownBootloader(
      versions: FirmwareVersion(0, 11, 0)..<FirmwareVersion(0, 11, 1),
      fault: "erases the application and then does not receive an image",
      advice: "Install bootloader 0.10.0 over USB first.",
      consequence: .loss,
      source: "Adafruit_nRF52_Bootloader, issue 399"),
  ]

  /// Returns the row for the firmware revision of a bootloader, such as `0.9.2 s140 6.1.1`, or, in
  /// old versions, `S132 2.0.1, 0.5.0`; `nil` if no row contains the version. Builds of other
  /// projects, such as `0.9.2-OTAFIX2.1`, have a suffix, and are not in the table.
  static func named(in revision: String) -> KnownBootloader? {
    let words = revision.split { $0 == " " || $0 == "," }.map(String.init)
    guard words.count == 3,
      let family = words.firstIndex(where: { ["s132", "s140"].contains($0.lowercased()) }),
      let version = FirmwareVersion(words[family == 0 ? 2 : 0])
    else { return nil }
    return all.first { $0.versions.contains(version) }
  }

  /// The warning before the transfer, as complete sentences.
  var warning: String { "This version of the bootloader \(fault). \(advice)" }

  /// The refusal of an update that would fail.
  var refusal: ProtocolRefusal {
    ProtocolRefusal(
      meaning: "this version of its bootloader \(fault)",
      advice: "The application still runs; nothing was sent. \(advice)", kind: .unsuitable)
  }
}
