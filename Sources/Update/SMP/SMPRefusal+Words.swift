import OtaflashGATT
import OtaflashWire

extension SMPRefusal {
  /// The refusal as a message.
  package var inWords: ProtocolRefusal {
    let entry =
      entry ?? Entry(.rejected, "it refused with an unknown code", Self.log)
    let meaning = reason.map { "\(entry.meaning) ('\($0)')" } ?? entry.meaning
    return ProtocolRefusal(
      code: number, meaning: meaning, advice: entry.advice, kind: entry.kind,
      remedy: entry.remedy)
  }

  /// The code, with its group unless the code is common to all groups, such as `rc 3` or `fs 11`.
  private var number: String {
    switch code {
    case .general(let rc): "rc \(rc)"
    case .group(.os, let rc): "os \(rc)"
    case .group(.image, let rc): "image \(rc)"
    case .group(.files, let rc): "fs \(rc)"
    case .group(.settings, let rc): "settings \(rc)"
    case .group(.statistics, let rc): "stat \(rc)"
    case .group(let group, let rc): "group \(group.rawValue) rc \(rc)"
    }
  }

  struct Entry: Sendable {
    let kind: ProtocolRefusal.Kind
    let meaning: String
    let advice: String
    let remedy: Remedy?

    init(
      _ kind: ProtocolRefusal.Kind, _ meaning: String, _ advice: String, _ remedy: Remedy? = nil
    ) {
      self.kind = kind
      self.meaning = meaning
      self.advice = advice
      self.remedy = remedy
    }
  }

  private var entry: Entry? {
    switch code {
    case .general(let rc) where rc >= Self.firstOfApplications:
      Entry(.rejected, "its application refused", "Ask the firmware's author about the code.")
    case .general(let rc): Self.general[rc]
    case .group(.os, let rc): Self.os[rc]
    case .group(.image, let rc): Self.image[rc]
    case .group(.files, let rc): Self.files[rc]
    case .group(.settings, let rc): Self.settings[rc]
    case .group(.statistics, let rc): Self.statistics[rc]
    case .group: nil
    }
  }

  /// MGMT_ERR_EPERUSER.
  private static let firstOfApplications: Int32 = 256

  static let log = "See the device's log."
  static let again = "Try again; if the error persists, restart the device."
  private static let sign = "Build and sign the image again, for this board."
  private static let list = "List its slots for details."
  private static let memory = "A smaller ATT_MTU may help."
  static let worn =
    "Restart the device; if the error persists, its flash is worn, or has another layout."
  static let bug = "This is a bug in otaflash."

  private static let general: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error", log),
    2: Entry(.rejected, "it has no memory for the request", memory, .requestSmallerMTU),
    3: Entry(.unsuitable, "a value in the request is not valid", sign, .chooseAnotherImage),
    4: Entry(.rejected, "its operation took too long", again, .tryAgain),
    5: Entry(.rejected, "there is no such entry", list, .listSlots),
    6: Entry(
      .rejected, "its state does not permit the request",
      "An image may be pending, or the running image may need its confirmation: confirm it, "
        + "or restart the device.", .confirmRunningImage),
    7: Entry(
      .rejected, "the answer would not fit its buffer", "The firmware needs larger SMP buffers."),
    8: Entry(
      .unsuitable, "it does not support the command",
      "The firmware must be built with this SMP command."),
    9: Entry(
      .rejected, "the data is corrupt", "Send the image again, from its start.", .startOver),
    10: Entry(.rejected, "it is busy with another task", again, .tryAgain),
    11: Entry(.forbidden, "access is denied", "Pair with the device first.", .pair),
    12: Entry(.protocolBroken, "its SMP version is older than the version of the request", log),
    13: Entry(
      .protocolBroken, "its SMP version is newer than the version of the request",
      "Update otaflash.", .updateSoftware),
  ]

  private static let os: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error", log),
    2: Entry(.rejected, "the format is not valid", bug, .report),
    3: Entry(.rejected, "the bootloader does not support the query", log),
    4: Entry(.unsuitable, "its clock is not set", "Set the clock of the device."),
    5: Entry(.rejected, "the command to its real-time clock failed", log),
    6: Entry(.rejected, "the bootloader has no answer to the query", log),
  ]

  private static let image: [Int32: Entry] = [
    1: Entry(.rejected, "an unknown error", log),
    2: Entry(.rejected, "the layout of its flash cannot be read", worn, .restartDevice),
    3: Entry(.rejected, "the slot holds no image", list, .listSlots),
    4: Entry(.rejected, "the image has no TLV area", sign, .chooseAnotherImage),
    5: Entry(.rejected, "the image's TLV area is damaged", sign, .chooseAnotherImage),
    6: Entry(.rejected, "the image has more than one hash", sign, .chooseAnotherImage),
    7: Entry(
      .rejected, "an entry in the image's TLV area has a wrong length", sign, .chooseAnotherImage),
    8: Entry(.rejected, "no slot holds an image with this hash", list, .listSlots),
    9: Entry(
      .rejected, "no slot is free",
      "The other image is pending, or may be needed for a revert: confirm the running image, or "
        + "restart the device.", .confirmRunningImage),
    10: Entry(.rejected, "its flash cannot be opened", worn, .restartDevice),
    11: Entry(.rejected, "its flash cannot be read", worn, .restartDevice),
    12: Entry(.rejected, "its flash cannot be written", worn, .restartDevice),
    13: Entry(.rejected, "its flash cannot be erased", worn, .restartDevice),
    14: Entry(.rejected, "there is no such slot", list, .listSlots),
    15: Entry(.rejected, "it has no memory for the request", memory, .requestSmallerMTU),
    16: Entry(.rejected, "its flash is being written already", again, .tryAgain),
    17: Entry(.rejected, "its flash is not being written", again, .tryAgain),
    18: Entry(.rejected, "its flash has no driver", worn, .restartDevice),
    19: Entry(.rejected, "an offset is not at the start of a page", again, .tryAgain),
    20: Entry(.protocolBroken, "the request has no offset", bug, .report),
    21: Entry(.protocolBroken, "the request has no length", bug, .report),
    22: Entry(.protocolBroken, "the first request lacks the image's header", bug, .report),
    23: Entry(
      .unsuitable, "the sent data has no MCUboot header", sign, .chooseAnotherImage),
    24: Entry(
      .unsuitable, "the hash has the wrong length",
      "The image must be signed with the hash algorithm that the bootloader requires."),
    25: Entry(
      .unsuitable, "the image is linked for another address in its flash",
      "Send the variant of the image for the inactive slot."),
    26: Entry(.rejected, "the version of the running image cannot be read", worn, .restartDevice),
    27: Entry(
      .unsuitable, "the running image has the same or a higher version",
      "The device accepts only a higher version."),
    28: Entry(
      .rejected, "an image is already pending for the next start",
      "Restart the device, then try again.", .restartIntoWaitingImage),
    29: Entry(.unsuitable, "the image's vector table is not valid", sign, .chooseAnotherImage),
    30: Entry(.unsuitable, "the image is too large", "Build a smaller image."),
    31: Entry(
      .rejected, "more bytes arrived than were announced",
      "Send the image again, from its start.", .startOver),
    32: Entry(
      .rejected, "this image may not be confirmed", "Its own application must confirm it."),
    33: Entry(.rejected, "the running image cannot be put on trial", "It runs already."),
    34: Entry(.rejected, "it cannot determine the active slot", worn, .restartDevice),
  ]
}
