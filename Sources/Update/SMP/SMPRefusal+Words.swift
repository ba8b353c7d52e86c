extension SMPRefusal {
  /// What the refusal means, in words, without a full stop.
  public var meaning: String { entry?.meaning ?? "an error that is not known here (\(number))" }

  /// What to do about it, as a sentence without a full stop.
  public var remedy: String { entry?.remedy ?? "look at the device's own log" }

  /// The code as a reader of the specification knows it: `rc 8`, `group 1 rc 23`.
  public var number: String {
    switch code {
    case .general(let rc): "rc \(rc)"
    case .group(let group, let rc): "group \(group.rawValue) rc \(rc)"
    }
  }

  private typealias Entry = (meaning: String, remedy: String)

  private var entry: Entry? {
    switch code {
    case .general(let rc) where rc >= Self.firstOfApplications:
      ("the application refused with a code of its own (\(rc))", "ask the firmware's author")
    case .general(let rc): Self.general[rc]
    case .group(.os, let rc): Self.os[rc]
    case .group(.image, let rc): Self.image[rc]
    case .group: nil
    }
  }

  /// MGMT_ERR_EPERUSER.
  private static let firstOfApplications: Int32 = 256

  private static let again = "try again; if it stays so, restart the device"
  private static let sign = "build and sign the image again for this board"
  private static let flash =
    "restart the device; if it stays so, its flash is worn or wrongly set up"

  private static let general: [Int32: Entry] = [
    1: ("an unknown error", "look at the device's own log"),
    2: ("it has no memory for this", "try again with a smaller ATT_MTU or window"),
    3: ("a value in the request is not valid", "check that image and board belong together"),
    4: ("its own work took too long", again),
    5: ("there is no such entry", "look what it holds with 'otaflash slots list'"),
    6: (
      "its state does not permit this: an image waits for the next start, or is not confirmed",
      "confirm the running image or restart the device first"
    ),
    7: ("the answer would not fit its buffer", "the firmware needs larger SMP buffers"),
    8: ("the command is not built into it", "build the firmware with this command"),
    9: ("the data is corrupt", "send the image again from the start"),
    10: ("it is busy with another command", again),
    11: ("access is denied", "pair with the device, or use a key that it accepts"),
    12: ("it speaks an older version of SMP", "update the device by another way"),
    13: ("it speaks a newer version of SMP", "update this program"),
  ]

  private static let os: [Int32: Entry] = [
    1: ("an unknown error", "look at the device's own log"),
    2: ("the format letters are not valid", "leave the format away"),
    3: ("the boot loader does not know the query", "nothing: it is done without"),
    4: ("its clock is not set", "set the device's clock"),
    5: ("its clock does not work", "look at the device's own log"),
    6: ("the boot loader has no answer to the query", "nothing: it is done without"),
  ]

  private static let image: [Int32: Entry] = [
    1: ("an unknown error", "look at the device's own log"),
    2: ("its flash layout cannot be read", flash),
    3: ("the slot holds no image", "send an image first"),
    4: ("the image has no trailer", sign),
    5: ("the image's trailer is damaged", sign),
    6: ("the image has more than one hash", sign),
    7: ("a field in the image's trailer has a wrong size", sign),
    8: ("no slot holds an image with this hash", "look at 'otaflash slots list'"),
    9: (
      "no slot is free: the other image waits for the next start or is not confirmed",
      "restart the device, confirm the running image, then send again"
    ),
    10: ("its flash cannot be opened", flash),
    11: ("its flash cannot be read", flash),
    12: ("its flash cannot be written", flash),
    13: ("its flash cannot be erased", flash),
    14: ("there is no such slot", "look at 'otaflash slots list'"),
    15: ("it has no memory for this", "try again with a smaller ATT_MTU or window"),
    16: ("a write to flash is going on already", again),
    17: ("no write to flash is going on", again),
    18: ("its flash has no driver", flash),
    19: ("the offset is not at the start of a page", again),
    20: ("the request has no offset", "report this as a bug of otaflash"),
    21: ("the request has no length", "report this as a bug of otaflash"),
    22: ("the first packet does not hold the image's header", "use an ATT_MTU of 100 or more"),
    23: ("the file does not begin like an MCUboot image", sign),
    24: ("the hash has a wrong length", "the boot loader uses another hash than the image"),
    25: ("the image is linked for another place in flash", "build it for the slot it is sent to"),
    26: ("the version of the running image cannot be read", flash),
    27: (
      "what runs is as new as the image or newer",
      "send a higher version, or pass --allow-downgrade"
    ),
    28: ("an image waits for the next start already", "restart the device first"),
    29: ("the image's vector table is not valid", sign),
    30: ("the image is too large", "build it smaller"),
    31: ("more octets came than were announced", "send the image again from the start"),
    32: ("this image may not be confirmed", "confirm it while it runs"),
    33: ("the running image cannot be put on trial", "nothing: it runs already"),
    34: ("it cannot tell which slot runs", flash),
  ]
}
