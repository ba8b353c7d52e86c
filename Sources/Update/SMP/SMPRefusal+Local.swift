import OtaflashGATT
import OtaflashWire

extension SMPFacts {
  /// Returns the message for a refused upload or erase. If no slot is free, the flags of the slots
  /// explain the reason.
  func inWords(_ refusal: SMPRefusal, image: Int) -> ProtocolRefusal {
    let words = refusal.inWords
    // Mynewt's server has no separate code for this refusal, and reports that it is out of memory.
    guard refusal.meansNoFreeSlot || refusal.isOutOfMemory else { return words }
    if let waiting = state.slots(of: image).first(where: { $0.flags.contains(.pending) }) {
      return .waits(waiting.versionName, in: waiting.slot, code: words.code)
    }
    if state.isOnTrial(image), let running = running(image) {
      return .isOnTrial(running.versionName, code: words.code)
    }
    return refusal.isNoEntry ? .noFreeSlot(code: words.code, advice: words.advice) : words
  }
}

/// Obstacles that the host detects, and refusals whose reason the host derives.
extension ProtocolRefusal {
  static func waits(_ version: String, in slot: Int, code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "no slot is free: \(version) in slot \(slot) is pending",
      advice: "Restart the device, which starts that image; then try again.", kind: .rejected,
      remedy: .restartIntoWaitingImage)
  }

  static func isOnTrial(_ version: String, code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code,
      meaning: "no slot is free: it runs \(version) on trial, and keeps the previous image to "
        + "revert to",
      advice:
        "Confirm the running image to keep it, or restart the device to revert; then try again.",
      kind: .rejected, remedy: .confirmRunningImage)
  }

  static func noFreeSlot(code: String?, advice: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "no slot is free", advice: advice, kind: .rejected, remedy: .listSlots)
  }

  static let notListed = ProtocolRefusal(
    code: "no slot", meaning: "its list of slots does not contain the image that was sent",
    advice: "The device's bootloader does not accept the received image: sign the image with the "
      + "hash algorithm that the bootloader requires.", kind: .rejected)

  static let differs = ProtocolRefusal(
    code: "match false", meaning: "the image in its flash differed from the sent image twice",
    advice: "Send it again; if the error persists, the device's flash is worn.", kind: .rejected)

  static func packetsTooShort(_ bytes: Int, least: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "buffer \(bytes)",
      meaning: "its requests have \(bytes) bytes at most, but the first needs \(least)",
      advice: "The image's header must arrive in one piece: the firmware needs an ATT_MTU of "
        + "\(least + 3) or more, or must be built with SMP reassembly.",
      kind: .unsuitable)
  }

  static func noSuchImage(_ index: Int, among images: [Int]) -> ProtocolRefusal {
    let known = images.sorted().map(String.init).joined(separator: ", ")
    return ProtocolRefusal(
      code: "no image", meaning: "it has no image \(index)",
      advice: "It reports only image \(known): the file is for another device, or its "
        + "manifest names the wrong image.", kind: .unsuitable)
  }

  static func neverStarts(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "mode",
      meaning: "its bootloader starts the highest version, and \(image) is not the highest",
      advice: "It runs \(running): the image needs a higher version.", kind: .unsuitable)
  }

  static func forbidsDowngrade(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "no-downgrade", meaning: "its bootloader starts no version older than \(running)",
      advice: "It would never start \(image): the image needs a higher version.",
      kind: .unsuitable)
  }

  static func builtForRunningSlot(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "the image is built for slot \(slot), which is in use",
      advice: "It would be written to the other slot: send the variant for that slot.",
      kind: .unsuitable)
  }

  static let notBootable = ProtocolRefusal(
    code: "flag 0x10", meaning: "the image's header marks it as not bootable",
    advice: "MCUboot rejects such an image: sign it as bootable.", kind: .unsuitable,
    remedy: .chooseAnotherImage)

  static let installerWithoutLoader = ProtocolRefusal(
    code: "installer", meaning: "the image is an installer for a device with a firmware loader",
    advice: "This device does not report a firmware loader (bootloader mode 7): choose the "
      + "application's image.",
    kind: .unsuitable, remedy: .chooseAnotherImage)

  static let inTheClear = ProtocolRefusal(
    code: "not encrypted", meaning: "the image is marked as encrypted, but its body is not",
    advice: "It is for a flash programmer that writes slot 0; MCUboot would decrypt plain data. "
      + "For an update, encrypt the image.", kind: .unsuitable)

  static func decompressedTooLarge(_ size: Int, slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "size \(size)",
      meaning: "the decompressed image has at least \(size) bytes, but its slot has \(slot)",
      advice: "The bootloader decompresses the image into this slot: build a smaller image.",
      kind: .unsuitable, remedy: .chooseAnotherImage)
  }

  static func compressed(for mode: MCUbootMode) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "mode \(mode.rawValue)",
      meaning: "the image is compressed, and its bootloader does not overwrite the old image",
      advice: "MCUboot decompresses images only in overwrite-only mode (2): send the "
        + "uncompressed image.", kind: .unsuitable, remedy: .chooseAnotherImage)
  }

  static let decompressedNotStated = ProtocolRefusal(
    code: "no entry 0x71",
    meaning: "the image is compressed, but does not describe its decompressed form",
    advice: "MCUboot rejects such an image: sign it with a tool that adds size and hash.",
    kind: .unsuitable, remedy: .chooseAnotherImage)

  static func runs(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "slot \(slot) holds the running image",
      advice: "Only the other slot can be erased.", kind: .unsuitable)
  }

  static let noCandidate = ProtocolRefusal(
    code: "no slot", meaning: "no slot holds an image for a trial",
    advice: "List the slots for details.", kind: .unsuitable, remedy: .listSlots)

  static let severalCandidates = ProtocolRefusal(
    code: "several slots", meaning: "more than one slot holds a matching image",
    advice: "Specify more digits of the hash; list the slots to see the hashes.", kind: .unsuitable,
    remedy: .listSlots)
}
