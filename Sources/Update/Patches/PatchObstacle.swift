import OtaflashGATT
import OtaflashNumerals

/// The reason why a device does not receive a patch against its running image.
public enum PatchObstacle: DeliveryReason {
  /// The device does not support patches, or does not support the patches that this host creates.
  case notUnderstood
  /// The device does not report its running image.
  case baseNotTold
  /// The device cannot read its running image, or the CRC32 of the image differs from the expected
  /// CRC32.
  case baseUnreadable
  /// This host does not have the running image.
  case baseUnknown(ContentIdentity)
  /// A patch would save little; the selected or best content has this size.
  case noGain(bytes: Int)
  /// The device holds a part of the image or stream. The rest has this number of bytes, and is
  /// transferred in less time than a patch.
  case restIsSooner(bytes: Int)
  /// The given patch is not for the running image.
  case givenForAnother(running: ContentIdentity)
  /// The device has no decoder for the given patch; the value states the required decoder.
  case givenNotUnderstood(String)
  /// The running image of the device differs from the base of the patch.
  case otherBase(expected: ContentIdentity, running: ContentIdentity)
  /// The device refused the patch during the transfer.
  case refused
  /// The device applied the patch, but the result differs from the image.
  case madeOtherImage

  /// The reason, as a clause.
  public var clause: String {
    switch self {
    case .notUnderstood: "the device does not support patches"
    case .baseNotTold: "the device does not report its running image"
    case .baseUnreadable: "the running image cannot be read, or is damaged"
    case .baseUnknown(let running):
      "the running image (\(running.words)) is not stored on this host"
    case .noGain(let bytes): "a patch would save little (best size: \(Numerals.grouped(bytes)) B)"
    case .restIsSooner(let bytes):
      "the device holds a part of the image, and needs \(Numerals.grouped(bytes)) B more"
    case .givenForAnother(let running):
      "the given patch is not for the running image (\(running.words))"
    case .givenNotUnderstood(let codec):
      "the device has no decoder for the given patch (\(codec))"
    case .otherBase(let expected, let running):
      "base \(Numerals.hex(expected.crc32)) is not the running image "
        + "(\(Numerals.hex(running.crc32)))"
    case .refused: "the device refused the patch"
    case .madeOtherImage: "the device created another image from the patch"
    }
  }

  /// The stable name of this kind of obstacle.
  public var code: String {
    switch self {
    case .notUnderstood: "not-understood"
    case .baseNotTold: "base-not-told"
    case .baseUnreadable: "base-unreadable"
    case .baseUnknown: "base-unknown"
    case .noGain: "no-gain"
    case .restIsSooner: "rest-is-sooner"
    case .givenForAnother: "given-for-another"
    case .givenNotUnderstood: "given-not-understood"
    case .otherBase: "other-base"
    case .refused: "refused"
    case .madeOtherImage: "made-other-image"
    }
  }

  /// Whether the device examined the patch before it refused it.
  public var isVerdictOfDevice: Bool {
    switch self {
    case .refused, .madeOtherImage: true
    case .notUnderstood, .baseNotTold, .baseUnreadable, .baseUnknown, .noGain, .restIsSooner,
      .givenForAnother, .givenNotUnderstood, .otherBase:
      false
    }
  }
}

/// The texts of the fault of an update that requires a patch.
extension PatchObstacle {
  public var summary: String { "no patch can be sent: \(clause)" }

  public var explanation: String {
    isVerdictOfDevice
      ? "The running image is unchanged. The image was not sent, because a patch is required."
      : "A patch is required; nothing was written."
  }

  public var remedy: Remedy? { .allowWholeImage }
}

extension DeliveryObstacle {
  /// Creates the delivery obstacle for a patch.
  public static func patch(_ obstacle: PatchObstacle) -> DeliveryObstacle {
    DeliveryObstacle(obstacle)
  }

  /// The obstacle to a patch; `nil` for another delivery method.
  public var patch: PatchObstacle? { reason as? PatchObstacle }
}

extension UpdateFault {
  /// Creates the fault of an update that requires a patch, if no patch can be sent or the device
  /// did not create the image from the patch.
  public static func noPatch(_ obstacle: PatchObstacle) -> UpdateFault {
    .undeliverable(.patch(obstacle))
  }
}

extension ContentIdentity {
  /// The identity as text: `132,472 B, CRC32 5121c8ff`.
  public var words: String { "\(Numerals.grouped(size)) B, CRC32 \(Numerals.hex(crc32))" }
}
