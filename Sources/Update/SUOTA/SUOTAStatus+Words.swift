import OtaflashGATT

extension SUOTAStatus {
  /// The status as a message: the error, the correction, and its category.
  var inWords: ProtocolRefusal {
    let words = words
    return ProtocolRefusal(
      code: "SUOTA \(rawValue)", meaning: words.meaning, advice: words.advice, kind: words.kind,
      remedy: words.remedy)
  }

  private typealias Words = (
    meaning: String, advice: String, kind: ProtocolRefusal.Kind, remedy: Remedy?
  )

  private static let closer = "Move closer to the device, and try again."
  private static let rightPins = Remedy.advice(
    "State the pins of the flash, as the schematic or the app of the product lists them.")

  private var words: Words {
    switch self {
    case .exit:
      (
        "it does not start an update now",
        "End other connections to the device; the application may also refuse updates.",
        .unwilling, .tryAgain
      )
    case .checksum:
      (
        "the checksum of the received image is wrong", "Send the image again.", .rejected, .tryAgain
      )
    case .patchLength:
      ("a block had another length than announced", Self.closer, .protocolBroken, .tryAgain)
    case .flashWrite:
      (
        "it could not write its flash",
        "Send the image again; if the error persists, the flash is worn.", .flashFault, .tryAgain
      )
    case .bufferTooSmall:
      (
        "a block does not fit its buffer", "Limit the unacknowledged bytes.", .protocolBroken,
        .sendSmallestPackets
      )
    case .memoryType:
      (
        "it does not store images in this memory", "State the memory of the device: SPI or I2C.",
        .unsuitable, .advice("State the other memory.")
      )
    case .application:
      (
        "its application rejected the image",
        "Some products accept only images that the vendor has signed.", .rejected,
        .chooseAnotherImage
      )
    default: imageWords
    }
  }

  private var imageWords: Words {
    switch self {
    case .bank:
      (
        "it does not have this image bank", "Choose bank 0, 1 or 2.", .unsuitable,
        .advice("Let the device choose the bank.")
      )
    case .header:
      (
        "it does not know the header of the image",
        "The image is built for another family of chips.", .unsuitable, .chooseAnotherImage
      )
    case .size:
      (
        "the image does not fit its bank", "Build a smaller image.", .doesNotFit,
        .chooseAnotherImage
      )
    case .productHeader:
      (
        "its flash has no product header",
        "The flash was not prepared for two images, or it has other pins.", .unsuitable,
        Self.rightPins
      )
    case .sameImage, .sameInactiveImage:
      (
        "the bank already contains an image with this version and build time",
        "A restart starts this image, unless its bootloader rejects it.", .unsuitable,
        .restartDevice
      )
    case .flashRead:
      ("it cannot read its flash", "The flash may have other pins.", .flashFault, Self.rightPins)
    default:
      (
        "it reports a status that the service does not define",
        "Restart the device, and try again.", .rejected, .restartDevice
      )
    }
  }
}

/// Obstacles that the host detects.
extension ProtocolRefusal {
  /// The device did not answer a command.
  static func suotaSilence(_ command: String) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "no status", meaning: "it reported no status after \(command)",
      advice: "The device may store images in another memory, or its application does not permit "
        + "updates now.", kind: .unwilling, remedy: .restartDevice)
  }

  /// The device kept the link after the request to restart.
  static let suotaKeepsRunning = ProtocolRefusal(
    code: "no restart", meaning: "it accepted the image, but did not restart",
    advice: "Restart the device: its bootloader then starts the image.", kind: .unwilling,
    remedy: .restartDevice)

  /// The device refuses the length of the blocks of a stream.
  static let suotaReceivesBlocks = ProtocolRefusal(
    code: "SUOTA 7", meaning: "it limits blocks, so it is a DA1453x or DA1458x",
    advice: "The image is built for another family of chips.", kind: .unsuitable,
    remedy: .chooseAnotherImage)

  /// Blocks are lost in every transfer.
  static let suotaLosses = ProtocolRefusal(
    code: "lost data", meaning: "it lost data in every transfer, also with one packet at a time",
    advice: "Move closer to the device, and try again.", kind: .protocolBroken, remedy: .tryAgain)
}
