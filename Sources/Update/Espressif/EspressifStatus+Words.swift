import OtaflashGATT

extension EspressifStatus {
  /// Returns the answer to START as a message.
  func ofStart() -> ProtocolRefusal {
    switch self {
    case .rejected: .espressifTransferInProgress
    case .cannotStart:
      refusal(
        of: "START", "it cannot start an update",
        "Its partition table has no second application partition, or the image is too large.",
        .doesNotFit)
    default: unknown(of: "START")
    }
  }

  /// Returns the answer to a sector as a message.
  func ofSector() -> ProtocolRefusal {
    switch self {
    case .cannotStart:
      refusal(
        of: "sector", "it cannot start an update",
        "Its partition table has no second application partition, or the image is too large.",
        .doesNotFit)
    case .rejected:
      refusal(
        of: "sector", "the CRC of a sector is wrong", "Move closer to the device, and try again.",
        .protocolBroken, .tryAgain)
    case .wrongSector:
      refusal(
        of: "sector", "it expects another sector",
        "Restart the device, and run the update again.", .protocolBroken, .restartDevice)
    case .wrongLength:
      refusal(
        of: "sector", "a sector has a wrong length",
        "Try again; if it fails again, use packets "
          + "of another size.", .protocolBroken, .tryAgain)
    default: unknown(of: "sector")
    }
  }

  /// Returns the answer to STOP as a message.
  func ofStop() -> ProtocolRefusal {
    switch self {
    case .rejected:
      refusal(
        of: "STOP", "it has not received the complete image", "Try again.", .rejected, .tryAgain)
    case .wrongLength:
      refusal(
        of: "STOP", "the signature of the image is wrong",
        "Append the signature of the key that the firmware of the device contains.", .forbidden)
    default: unknown(of: "STOP")
    }
  }

  private func unknown(of operation: String) -> ProtocolRefusal {
    refusal(
      of: operation, "it reports an error that the protocol does not define",
      "Restart the device, and try again.", .protocolBroken, .restartDevice)
  }

  private func refusal(
    of operation: String, _ meaning: String, _ advice: String, _ kind: ProtocolRefusal.Kind,
    _ remedy: Remedy? = nil
  ) -> ProtocolRefusal {
    ProtocolRefusal(
      code: "espressif \(operation) \(rawValue)", meaning: meaning, advice: advice, kind: kind,
      remedy: remedy)
  }
}

extension ProtocolRefusal {
  /// The device is in a transfer that the host cannot continue.
  static let espressifTransferInProgress = ProtocolRefusal(
    meaning: "it holds an unfinished transfer that only a restart of the device ends",
    advice:
      "Restart the device, and run the update again. If it still refuses, the image is larger "
      + "than its partition.", kind: .unwilling, remedy: .restartDevice)

  /// The device ended the transfer without an answer.
  static func espressifTransferEnded(isComplete: Bool) -> ProtocolRefusal {
    isComplete
      ? espressifImageRejected
      : ProtocolRefusal(
        meaning: "it ended the transfer without a reason",
        advice: "Its flash failed, or the image is larger than its partition. Restart the device, "
          + "and try again.", kind: .rejected, remedy: .restartDevice)
  }

  /// The device has the complete image and did not start it.
  static let espressifImageRejected = ProtocolRefusal(
    meaning: "it received the complete image, but did not restart",
    advice: "It rejected the image: it is for another chip, not signed with its key, or was "
      + "damaged. Restart the device before the next update; it still runs the old application.",
    kind: .rejected, remedy: .restartDevice)

  /// The device accepted the image and waits for a restart.
  static let espressifNotRestarted = ProtocolRefusal(
    meaning: "it accepted the image, but did not restart",
    advice: "Restart the device; it then starts the new application. Run the same command again to "
      + "verify the version.", kind: .unwilling, remedy: .restartDevice)

  /// The device has not restarted since the transfer.
  static let espressifStillInTransfer = ProtocolRefusal(
    meaning: "it is still in the transfer, and has not restarted",
    advice: "It rejected the image, or did not receive its end. Restart the device, and run the "
      + "update again.", kind: .rejected, remedy: .restartDevice)

  /// The image is for another chip.
  static func espressifOtherChip(_ image: String, device: String) -> ProtocolRefusal {
    ProtocolRefusal(
      meaning: "the image is for \(image), but the device is \(device)",
      advice: "Build the application for the chip of the device.", kind: .wrongHardware)
  }
}
