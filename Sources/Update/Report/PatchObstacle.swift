import OtaflashATT
import OtaflashNumerals

/// Why a device is not sent a patch against what it runs.
public enum PatchObstacle: Equatable, Sendable {
  /// The device understands no patches, or none that are made here.
  case notUnderstood
  /// It does not tell which image it runs.
  case baseNotTold
  /// It cannot read the image that it runs, or has read another CRC32 than the image should have.
  case baseUnreadable
  /// Nobody here has the image that it runs.
  case baseUnknown(ContentIdentity)
  /// What is best without it has so many bytes, and a patch would save little of them.
  case noGain(bytes: Int)
  /// The device holds a part of the image, or of what is sent instead, and its last bytes are
  /// there sooner than a patch.
  case restIsSooner(bytes: Int)
  /// The patch that was given is not for the image that the device runs.
  case givenForAnother(running: ContentIdentity)
  /// The device has no decoder for the patch that was given; what it would need.
  case givenNotUnderstood(String)
  /// The device has compared what it runs with what the patch was made against.
  case otherBase(expected: ContentIdentity, running: ContentIdentity)
  /// The device refused the patch while it came.
  case refused
  /// The device has applied the patch, and what it read back is not the image.
  case madeOtherImage

  /// Why, as a clause.
  public var clause: String {
    switch self {
    case .notUnderstood: "the device understands no patches"
    case .baseNotTold: "the device does not tell which image it runs"
    case .baseUnreadable: "the device cannot read the image that it runs, or finds it damaged"
    case .baseUnknown(let running): "nobody here has the image that runs there (\(running.words))"
    case .noGain(let bytes): "no patch would save much: \(Numerals.grouped(bytes)) B at best"
    case .restIsSooner(let bytes):
      "the device holds a part of the image, and wants \(Numerals.grouped(bytes)) B more"
    case .givenForAnother(let running):
      "the patch that was given is not for the image that runs there (\(running.words))"
    case .givenNotUnderstood(let codec):
      "the device has no decoder for the patch that was given (\(codec))"
    case .otherBase(let expected, let running):
      "base \(Numerals.hex(expected.crc32)) is not what runs (\(Numerals.hex(running.crc32)))"
    case .refused: "the device refused the patch"
    case .madeOtherImage: "what the device made of the patch is not the image"
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

  /// The device has seen the patch before it said no.
  public var isVerdictOfDevice: Bool {
    switch self {
    case .refused, .madeOtherImage: true
    case .notUnderstood, .baseNotTold, .baseUnreadable, .baseUnknown, .noGain, .restIsSooner,
      .givenForAnother, .givenNotUnderstood, .otherBase:
      false
    }
  }
}

extension ContentIdentity {
  /// `132,472 B, CRC32 5121c8ff`.
  public var words: String { "\(Numerals.grouped(size)) B, CRC32 \(Numerals.hex(crc32))" }
}
