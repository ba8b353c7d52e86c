import OtaflashGATT

extension OADStatus {
  /// The status as a message: the error, the correction, and its category.
  var inWords: ProtocolRefusal {
    let words = words
    return ProtocolRefusal(
      code: "TI OAD \(rawValue)", meaning: words.meaning, advice: words.advice, kind: words.kind,
      remedy: words.remedy)
  }

  private typealias Words = (
    meaning: String, advice: String, kind: ProtocolRefusal.Kind, remedy: Remedy?
  )

  private static let discarded = "The device has discarded the image and runs the old application."
  private static let closer = discarded + " Move closer to the device, and try again."

  private var words: Words {
    switch self {
    case .checksum:
      (
        "the CRC32 of the received image is wrong",
        Self.discarded + " If the error persists, its flash is worn.", .rejected, .tryAgain
      )
    case .flash:
      (
        "it cannot write its flash", Self.discarded + " If the error persists, its flash is worn.",
        .flashFault, .tryAgain
      )
    case .overflow:
      ("it has not received all blocks in order", Self.closer, .protocolBroken, .tryAgain)
    case .alreadyStarted:
      ("it is still in another transfer", "Wait for 10 s, and try again.", .unwilling, .tryAgain)
    case .notStarted:
      ("it has ended the transfer", Self.closer, .protocolBroken, .tryAgain)
    case .incomplete:
      (
        "it does not hold a complete image",
        "It discards an image 10 s after the last block; send the image again.", .protocolBroken,
        .tryAgain
      )
    case .noResources:
      ("it has no memory for the transfer", "Restart the device.", .unwilling, .restartDevice)
    default: imageWords
    }
  }

  /// The statuses that concern the image.
  private var imageWords: Words {
    switch self {
    case .tooLarge:
      (
        "the image is larger than its space", "Build a smaller image; nothing was written.",
        .doesNotFit, .chooseAnotherImage
      )
    case .incompatibleImage:
      (
        "it cannot run an image of this type or for this address",
        "Choose an image of the same project; the old application still runs.", .unsuitable,
        .chooseAnotherImage
      )
    case .invalidFile:
      (
        "the image is for another chip or product",
        "Its identification differs from the identification of the device; nothing was written.",
        .wrongHardware, .chooseAnotherImage
      )
    case .incompatibleFile:
      (
        "the image is for another version of the Boot Image Manager",
        "Build the image with the SDK of the device; nothing was written.", .unsuitable,
        .chooseAnotherImage
      )
    case .authentication:
      (
        "it refuses the image or this host without authentication",
        "Pair with the device, or sign the image with a key that it trusts.", .forbidden, .pair
      )
    case .identifyRetries:
      (
        "it has refused three images", "Restart the device, and choose another image.",
        .unsuitable, .chooseAnotherImage
      )
    default: otherWords
    }
  }

  private var otherWords: Words {
    switch self {
    case .notSupported:
      (
        "it does not support a command", "Its profile differs from TI's.", .versionNotSupported,
        .updateSoftware
      )
    case .notConfigured:
      ("its notifications are not enabled", "Try again.", .protocolBroken, .tryAgain)
    case .stopped:
      ("its application does not permit an update now", "Try again later.", .unwilling, .tryAgain)
    case .internalError:
      ("its software has an error", "Restart the device.", .rejected, .restartDevice)
    default:
      (
        "it reports a status that the profile does not define",
        "Restart the device, and try again.", .rejected, .restartDevice
      )
    }
  }
}

/// Obstacles that the host detects.
extension ProtocolRefusal {
  /// The format of the image does not fit the generation of the device.
  static func oadWrongFormat(_ generation: OADGeneration) -> ProtocolRefusal {
    let isBIM = generation == .bim
    return ProtocolRefusal(
      code: "image format",
      meaning: isBIM
        ? "it needs an image with TI's OAD header, not an MCUboot image"
        : "it needs an MCUboot image, not an image with TI's OAD header",
      advice: "Choose the file that the project of this device creates; nothing was written.",
      kind: .unsuitable, remedy: .chooseAnotherImage)
  }

  /// The blocks of the device are longer than the packets of the link.
  static func oadBlockTooLong(_ size: Int, mtu: Int) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "block size",
      meaning: "it needs blocks of \(size) bytes, but the ATT_MTU is only \(mtu)",
      advice: "Nothing was written.", kind: .unsuitable,
      remedy: .advice("Use an ATT_MTU of \(size + OADOTA.attOverhead) or more."))
  }

  /// The device requests more blocks than the file contains, or rejects a shorter last block.
  static let oadNeedsPadding = ProtocolRefusal(
    code: "image size", meaning: "it needs an image that is padded to the size of its slot",
    advice: "A device with external flash expects a complete slot; the old application still runs.",
    kind: .unsuitable,
    remedy: .advice("Let imgtool pad the image to the size of the slot."))

  /// The device did not answer.
  static let oadNoAnswer = ProtocolRefusal(
    code: "no answer", meaning: "it did not answer a command of its OAD service",
    advice: "Restart the device, and try again.", kind: .protocolBroken, remedy: .restartDevice)
}
