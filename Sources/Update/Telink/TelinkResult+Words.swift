import OtaflashGATT

extension TelinkResult {
  /// The result as a message: the error, the correction, and its category.
  var inWords: ProtocolRefusal {
    let words = words
    return ProtocolRefusal(
      code: "Telink OTA \(rawValue)", meaning: words.meaning,
      advice: words.advice + " " + Self.afterwards, kind: words.kind, remedy: words.remedy)
  }

  /// The state of the device after any error.
  private static let afterwards =
    "The device discards the image, restarts, and runs the old application; the next transfer "
    + "starts over."

  private typealias Words = (
    meaning: String, advice: String, kind: ProtocolRefusal.Kind, remedy: Remedy?
  )

  private static let closer = "Move closer to the device, and try again."

  private var words: Words {
    switch self {
    case .sequence: ("a packet was lost", Self.closer, .protocolBroken, .tryAgain)
    case .packetChecksum: ("a packet was damaged", Self.closer, .protocolBroken, .tryAgain)
    case .incomplete:
      ("it has not received all packets", Self.closer, .protocolBroken, .tryAgain)
    case .flow: ("it did not expect this command", "Try again.", .protocolBroken, .tryAgain)
    case .invalidPacket:
      (
        "it does not know a packet or a command", "Send the shortest packets.", .protocolBroken,
        .sendSmallestPackets
      )
    case .packetLength:
      (
        "it does not accept packets of this length", "Send the shortest packets.", .protocolBroken,
        .sendSmallestPackets
      )
    case .notSupported:
      (
        "its chip does not support this packet length", "Send the shortest packets.",
        .protocolBroken, .sendSmallestPackets
      )
    case .flashVerify:
      (
        "its flash does not contain the data that was written",
        "Send the image again; if the error persists, the flash is worn.", .flashFault, .tryAgain
      )
    case .imageChecksum:
      (
        "the CRC32 of the received image is wrong",
        "Send the image again; if the error persists, the flash is worn.", .rejected, .tryAgain
      )
    case .version:
      (
        "it does not accept the product version", "Send a newer image, or state no version.",
        .downgrade, .chooseAnotherImage
      )
    default: otherWords
    }
  }

  private var otherWords: Words {
    switch self {
    case .mark:
      (
        "the image has no mark of a Telink image", "Choose an image for this chip.", .unsuitable,
        .chooseAnotherImage
      )
    case .size:
      (
        "it does not accept the size of the image",
        "The image exceeds the space of the device, or is built for another boot address.",
        .doesNotFit, .chooseAnotherImage
      )
    case .packetTimeout:
      ("it waited too long for a packet", Self.closer, .protocolBroken, .tryAgain)
    case .totalTimeout:
      (
        "its time limit for a transfer has expired",
        "Move closer, use a shorter connection interval, or build a smaller image.", .rejected,
        .tryAgain
      )
    case .connectionEnded: ("the link has ended", Self.closer, .protocolBroken, .tryAgain)
    case .logic:
      ("its software has an error", "Restart the device, and try again.", .rejected, .restartDevice)
    default:
      (
        "it reports a result that the service does not define",
        "Restart the device, and try again.",
        .rejected, .restartDevice
      )
    }
  }
}

/// Obstacles that the host detects.
extension ProtocolRefusal {
  /// The transfer would exceed the time limit of the device.
  static func takesTooLong(_ needed: Duration, limit: Duration) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "time limit",
      meaning: "the transfer would take about \(seconds(needed)), but it ends every transfer after "
        + seconds(limit),
      advice: "The device would discard the image at this limit; nothing was written.",
      kind: .unsuitable,
      remedy: .advice(
        "Use a shorter connection interval or a smaller image; if the product has a longer limit, "
          + "state the limit."))
  }

  /// The device did not answer the request for its product version.
  static let noVersionAnswer = ProtocolRefusal(
    code: "no version", meaning: "it did not answer the request for its product version",
    advice: "Not every device compares versions: state no product version.", kind: .unsuitable,
    remedy: .advice("Update the device without a product version."))

  /// The device kept the link after the end of the image, and reported no result.
  static let noResult = ProtocolRefusal(
    code: "no result", meaning: "it neither reported a result nor restarted",
    advice: "Restart the device, and try again with the shortest packets.", kind: .protocolBroken,
    remedy: .sendSmallestPackets)

  private static func seconds(_ time: Duration) -> String {
    "\(Int((time / .seconds(1)).rounded(.up))) s"
  }
}
