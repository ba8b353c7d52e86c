import OtaflashGATT
import OtaflashNumerals

/// Why a device does not receive a patch against its running image.
public enum PatchObstacle: DeliveryReason {
  /// The device supports no patches, or none that this host creates.
  case notUnderstood
  /// The device does not report its running image.
  case baseNotTold
  /// The device cannot read its running image, or its CRC32 differs from the expected one.
  case baseUnreadable
  /// This host does not have the running image.
  case baseUnknown(ContentIdentity)
  /// The best content without a patch has this size, and a patch would save little.
  case noGain(bytes: Int)
  /// The device holds a part of the image or stream, and the rest is transferred sooner than a
  /// patch.
  case restIsSooner(bytes: Int)
  /// The given patch is not for the running image.
  case givenForAnother(running: ContentIdentity)
  /// The device has no decoder for the given patch; the value states what is needed.
  case givenNotUnderstood(String)
  /// The device compared its running image with the base of the patch.
  case otherBase(expected: ContentIdentity, running: ContentIdentity)
  /// The device refused the patch during the transfer.
  case refused
  /// The device applied the patch, and the result is not the image.
  case madeOtherImage

  /// The reason, as a clause.
  public var clause: String {
    switch self {
    case .notUnderstood: "the device does not support patches"
    case .baseNotTold: "the device does not report its running image"
    case .baseUnreadable: "the running image cannot be read, or is damaged"
    case .baseUnknown(let running): "the running image (\(running.words)) is not on this host"
    case .noGain(let bytes): "a patch would save little: \(Numerals.grouped(bytes)) B at best"
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

  /// The stable name of this kind.
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

  /// The device examined the patch before it refused.
  public var isVerdictOfDevice: Bool {
    switch self {
    case .refused, .madeOtherImage: true
    case .notUnderstood, .baseNotTold, .baseUnreadable, .baseUnknown, .noGain, .restIsSooner,
      .givenForAnother, .givenNotUnderstood, .otherBase:
      false
    }
  }
}

/// The fault of an update that requires a patch.
extension PatchObstacle {
  public var summary: String { "no patch can be sent: \(clause)" }

  public var explanation: String {
    isVerdictOfDevice
      ? "The running image is unchanged. The image was not sent: only a patch was allowed."
      : "Only a patch was allowed; nothing was written."
  }

  public var remedy: Remedy? { .allowWholeImage }
}

extension DeliveryObstacle {
  /// The obstacle to a patch.
  public static func patch(_ obstacle: PatchObstacle) -> DeliveryObstacle {
    DeliveryObstacle(obstacle)
  }

  /// The obstacle to a patch; `nil` for another delivery method.
  public var patch: PatchObstacle? { reason as? PatchObstacle }
}

extension UpdateFault {
  /// A patch was required, but none can be sent, or the device created no image from it.
  public static func noPatch(_ obstacle: PatchObstacle) -> UpdateFault {
    .undeliverable(.patch(obstacle))
  }
}

extension ContentIdentity {
  /// `132,472 B, CRC32 5121c8ff`.
  public var words: String { "\(Numerals.grouped(size)) B, CRC32 \(Numerals.hex(crc32))" }
}
