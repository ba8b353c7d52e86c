import OtaflashGATT
import OtaflashWire

extension SMPFacts {
  /// A refusal of an upload or an erase: where no slot is free, the flags that were read tell why.
  func inWords(_ refusal: SMPRefusal, image: Int) -> ProtocolRefusal {
    let words = refusal.inWords
    // Mynewt's server has no code of its own for this, and says that it has no memory.
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

/// What stands in the way without a server having said it.
extension ProtocolRefusal {
  static func waits(_ version: String, in slot: Int, code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "no slot is free: \(version) in slot \(slot) waits for the next start",
      advice: "Restart the device, which starts that image; then try again.", kind: .rejected,
      remedy: .restartIntoWaitingImage)
  }

  static func isOnTrial(_ version: String, code: String?) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code,
      meaning: "no slot is free: it runs \(version) on trial, and keeps the image before it to go "
        + "back to",
      advice:
        "Confirm what runs to keep it, or restart the device to go back; then try again.",
      kind: .rejected, remedy: .confirmRunningImage)
  }

  static func noFreeSlot(code: String?, advice: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "no slot is free", advice: advice, kind: .rejected, remedy: .listSlots)
  }

  static let notListed = ProtocolRefusal(
    code: "no slot", meaning: "no slot lists the image that was sent",
    advice: "What arrived is not valid for its bootloader: sign the image with the kind of hash "
      + "that the bootloader was built for.", kind: .rejected)

  static let differs = ProtocolRefusal(
    code: "match false", meaning: "what its flash holds is not what was sent, twice",
    advice: "Send it once more; if it stays so, the device's flash is worn.", kind: .rejected)

  static func packetsTooShort(_ bytes: Int, least: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "buffer \(bytes)",
      meaning: "its requests have \(bytes) bytes at most; the first needs \(least)",
      advice: "The image's header must arrive in one piece: the firmware needs an ATT_MTU of "
        + "\(least + 3) or more, or must be built to put SMP requests together.",
      kind: .unsuitable)
  }

  static func noSuchImage(_ index: Int, among images: [Int]) -> ProtocolRefusal {
    let known = images.sorted().map(String.init).joined(separator: ", ")
    return ProtocolRefusal(
      code: "no image", meaning: "it has no image \(index)",
      advice: "It tells of image \(known) alone: the file is for another device, or its "
        + "manifest names the wrong image.", kind: .unsuitable)
  }

  static func neverStarts(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "mode",
      meaning: "its bootloader starts the highest version it holds, which \(image) is not",
      advice: "It runs \(running): the image needs a higher version.", kind: .unsuitable)
  }

  static func forbidsDowngrade(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "no-downgrade", meaning: "its bootloader starts no older version than \(running)",
      advice: "\(image) would be sent in vain: the image needs a higher version.",
      kind: .unsuitable)
  }

  static func builtForRunningSlot(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "the image is built for slot \(slot), which runs",
      advice: "It would go to the other slot: send the variant that was built for that one.",
      kind: .unsuitable)
  }

  static let notBootable = ProtocolRefusal(
    code: "flag 0x10", meaning: "the image's header says that it is not to be started",
    advice: "MCUboot takes no such image: sign it as one that can be started.", kind: .unsuitable,
    remedy: .chooseAnotherImage)

  static let installerWithoutLoader = ProtocolRefusal(
    code: "installer", meaning: "the image is an installer for a device with a firmware loader",
    advice: "This device does not report one (bootloader mode 7): choose the application's image.",
    kind: .unsuitable, remedy: .chooseAnotherImage)

  static let inTheClear = ProtocolRefusal(
    code: "not encrypted", meaning: "the image is marked as encrypted, and its body is not",
    advice: "It is for a programmer, which writes the first slot; MCUboot would "
      + "decrypt what is plain. For an update, encrypt it.", kind: .unsuitable)

  static func decompressedTooLarge(_ size: Int, slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "size \(size)",
      meaning: "decompressed the image has \(size) bytes or more, and its slot \(slot)",
      advice: "The file would fit; what its bootloader makes of it would not.",
      kind: .unsuitable, remedy: .chooseAnotherImage)
  }

  static let decompressedNotStated = ProtocolRefusal(
    code: "no entry 0x71",
    meaning: "the image is compressed, and does not say what it is decompressed",
    advice: "MCUboot takes no such image: sign it with a tool that adds size and hash.",
    kind: .unsuitable, remedy: .chooseAnotherImage)

  static func runs(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "slot \(slot) holds what runs",
      advice: "Only the other slot can be erased.", kind: .unsuitable)
  }

  static let noCandidate = ProtocolRefusal(
    code: "no slot", meaning: "no slot holds an image that could be tried",
    advice: "What the slots hold tells more.", kind: .unsuitable, remedy: .listSlots)

  static let severalCandidates = ProtocolRefusal(
    code: "several slots", meaning: "more than one slot holds such an image",
    advice: "Name one by more of its hash; the list of the slots tells them.", kind: .unsuitable,
    remedy: .listSlots)
}
