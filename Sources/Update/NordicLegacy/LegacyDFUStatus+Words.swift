extension LegacyDFUStatus {
  /// Returns the refusal as a message. The meaning of a status depends on the operation.
  func inWords(of opcode: LegacyDFUOpcode, by device: LegacyDFUDevice) -> ProtocolRefusal {
    let words = words(of: opcode)
    // A bootloader with one bank has already erased the application when it responds to START.
    let isErased = opcode != .start && !device.updatesInApplication
    return ProtocolRefusal(
      code: "legacy DFU \(opcode.rawValue)/\(rawValue)", meaning: words.meaning,
      advice: words.advice + (isErased ? " " + Self.whatIsLeft : ""), kind: words.kind,
      remedy: words.remedy)
  }

  private static let whatIsLeft =
    "A bootloader with two banks starts the old application again. A bootloader with a single bank "
    + "has erased the application, and waits for a suitable package."

  private func words(of opcode: LegacyDFUOpcode) -> RefusalWords {
    switch opcode {
    case .start: wordsOfStart
    case .initPacket: wordsOfInitPacket
    case .validate: wordsOfValidation
    default: wordsOfData
    }
  }

  private var wordsOfStart: RefusalWords {
    switch self {
    case .invalidState:
      RefusalWords(
        "it is in the middle of another transfer", "Restart the device, and try again.",
        .protocolBroken)
    case .notSupported:
      RefusalWords(
        "it does not accept this kind of image",
        "A SoftDevice or a bootloader must be in a package for its bootloader.",
        .unsuitable)
    case .sizeOverLimit:
      RefusalWords(
        "the image does not fit into its flash",
        "Build a smaller image, or use a chip with more flash.",
        .unsuitable)
    case .success, .checksumMismatch, .operationFailed: Self.failure
    }
  }

  private var wordsOfInitPacket: RefusalWords {
    switch self {
    case .invalidState:
      RefusalWords(
        "the init packet did not reach it", "Move closer to the device, and try again.",
        .protocolBroken, remedy: .tryAgain)
    case .sizeOverLimit:
      RefusalWords(
        "the init packet is longer than it accepts", "Generate the package for this bootloader.",
        .rejected)
    case .checksumMismatch, .operationFailed:
      RefusalWords(
        "the init packet is for another device",
        "It is for another device type, revision or SoftDevice, or has a format that this "
          + "bootloader does not support.", .rejected)
    case .success, .notSupported: Self.failure
    }
  }

  private var wordsOfValidation: RefusalWords {
    switch self {
    case .checksumMismatch:
      RefusalWords(
        "the received image does not match the checksum of the init packet",
        "Try again; if it fails again, generate the package again.", .rejected)
    case .invalidState:
      RefusalWords(
        "it has not received the complete image", "Try again.", .protocolBroken, remedy: .tryAgain)
    case .success, .notSupported, .sizeOverLimit, .operationFailed: Self.failure
    }
  }

  private var wordsOfData: RefusalWords {
    switch self {
    case .notSupported:
      RefusalWords(
        "it accepts no packets of this length", "Every device accepts packets of 20 bytes.",
        .protocolBroken, remedy: .sendSmallestPackets)
    case .sizeOverLimit:
      RefusalWords(
        "a packet is too long, or more data arrived than was announced",
        "Every device accepts packets of 20 bytes.", .protocolBroken, remedy: .sendSmallestPackets)
    case .invalidState:
      RefusalWords(
        "it does not expect an image at this time", "Try again.", .protocolBroken,
        remedy: .tryAgain)
    case .success, .checksumMismatch, .operationFailed: Self.failure
    }
  }

  private static let failure = RefusalWords(
    "the operation failed", "Restart the device, and try again.", .rejected)
}

extension ProtocolRefusal {
  /// The meaning of ATT error 0x08 from an application that accepts updates only while its user
  /// permits them.
  static let updatesNotPermitted = ProtocolRefusal(
    code: "legacy DFU", meaning: "it does not permit updates now",
    advice: "Permit them in the device's settings.", kind: .forbidden)
}
