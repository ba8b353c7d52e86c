extension SMPFacts {
  /// A refusal of an upload or an erase: where no slot is free, the flags that were read tell why.
  func inWords(_ refusal: SMPRefusal, image: Int) -> ProtocolRefusal {
    let words = refusal.inWords
    guard refusal.meansNoFreeSlot else { return words }
    if let waiting = state.slots(of: image).first(where: { $0.flags.contains(.pending) }) {
      return .waits(waiting.versionName, in: waiting.slot, code: words.code)
    }
    if state.isOnTrial(image), let running = running(image) {
      return .isOnTrial(running.versionName, code: words.code)
    }
    return refusal.isNoEntry ? .noFreeSlot(code: words.code, remedy: words.remedy) : words
  }
}

/// What stands in the way without a server having said it.
extension ProtocolRefusal {
  static func waits(_ version: String, in slot: Int, code: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code, meaning: "no slot is free: \(version) in slot \(slot) waits for the next start",
      remedy: "Restart the device with 'otaflash reset', which starts that image; then try again.",
      kind: .rejected)
  }

  static func isOnTrial(_ version: String, code: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: code,
      meaning: "no slot is free: it runs \(version) on trial, and keeps the image before it to go "
        + "back to",
      remedy:
        "Keep what runs with 'otaflash slots confirm', or go back with 'otaflash reset'; then "
        + "try again.", kind: .rejected)
  }

  static func noFreeSlot(code: String, remedy: String) -> ProtocolRefusal {
    ProtocolRefusal(code: code, meaning: "no slot is free", remedy: remedy, kind: .rejected)
  }

  static let notListed = ProtocolRefusal(
    code: "no slot", meaning: "no slot lists the image that was sent",
    remedy: "What arrived is not valid for its boot loader: sign the image with the kind of hash "
      + "that the boot loader was built for.", kind: .rejected)

  static let differs = ProtocolRefusal(
    code: "match false", meaning: "what its flash holds is not what was sent, twice",
    remedy: "Send it once more; if it stays so, the device's flash is worn.", kind: .rejected)

  static func packetsTooShort(_ octets: Int, least: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "buffer \(octets)",
      meaning: "its requests have \(octets) octets at most; the first needs \(least)",
      remedy: "The image's header must arrive in one piece: the firmware needs an ATT_MTU of "
        + "\(least + 3) or more, or must be built to put SMP requests together.",
      kind: .unsuitable)
  }

  static func noSuchImage(_ index: Int, among images: [Int]) -> ProtocolRefusal {
    let known = images.sorted().map(String.init).joined(separator: ", ")
    return ProtocolRefusal(
      code: "no image", meaning: "it has no image \(index)",
      remedy: "It tells of image \(known) alone: the file is for another device, or its "
        + "manifest names the wrong image.", kind: .unsuitable)
  }

  static func neverStarts(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "mode",
      meaning: "its boot loader starts the highest version it holds, which \(image) is not",
      remedy: "It runs \(running): the image needs a higher version.", kind: .unsuitable)
  }

  static func forbidsDowngrade(_ image: String, running: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "no-downgrade", meaning: "its boot loader starts no older version than \(running)",
      remedy: "\(image) would be sent in vain: the image needs a higher version.",
      kind: .unsuitable)
  }

  static func builtForRunningSlot(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "the image is built for slot \(slot), which runs",
      remedy: "It would go to the other slot: send the variant that was built for that one.",
      kind: .unsuitable)
  }

  static let notBootable = ProtocolRefusal(
    code: "flag 0x10", meaning: "the image's header says that it is not to be started",
    remedy: "MCUboot takes no such image: sign it without --non-bootable.", kind: .unsuitable)

  static let inTheClear = ProtocolRefusal(
    code: "not encrypted", meaning: "the image is marked as encrypted, and its body is not",
    remedy: "It is for a programmer, which writes the first slot (imgtool --clear); MCUboot would "
      + "decrypt what is plain. For an update, encrypt it.", kind: .unsuitable)

  static func runs(_ slot: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "slot \(slot)", meaning: "slot \(slot) holds what runs",
      remedy: "Only the other slot can be erased.", kind: .unsuitable)
  }

  static let noCandidate = ProtocolRefusal(
    code: "no slot", meaning: "no slot holds an image that could be tried",
    remedy: "'otaflash slots list' tells what the device holds.", kind: .unsuitable)

  static let severalCandidates = ProtocolRefusal(
    code: "several slots", meaning: "more than one slot holds such an image",
    remedy: "Name one by more of its hash; 'otaflash slots list' tells them.", kind: .unsuitable)
}
