import OtaflashFirmware

/// Whose fault a failed attempt was: what counts against a wave, and what is tried again.
public enum FailureKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// The device rejected or reverted the image, or runs another one.
  case device
  /// The link was lost, or never made.
  case link
  /// This side: an adapter that vanished, a full disk, an error of ours. Never counts against a
  /// wave.
  case infrastructure
}

/// How one attempt on one device ended.
public enum AttemptEnding: Hashable, Sendable, Codable {
  case updated(UpdateFigures)
  /// The image ran already.
  case current(version: FirmwareVersion?)
  case failed(AttemptFailure)
  /// The campaign's owner left the device out, by a hook; why, in words.
  case skipped(words: String)
  /// Given back without a judgement on the device.
  case returned(ReturnReason)
}

/// What is known of an update that succeeded.
public struct UpdateFigures: Hashable, Sendable, Codable {
  public var from: FirmwareVersion?
  public var to: FirmwareVersion?
  /// How it is known that the image runs: `read-back`, `version`, …
  public var proof: String
  /// Sent, repeats included.
  public var bytes: Int
  public var uploadMilliseconds: Int64
  public var resumes: Int
  /// Bytes of the image that the device made of them; `nil` = they were the image's own.
  public var made: Int?

  private enum CodingKeys: String, CodingKey {
    case from, to, proof, uploadMilliseconds, resumes, made
    // The key of stored events.
    case bytes = "octets"
  }

  public init(
    from: FirmwareVersion?, to: FirmwareVersion?, proof: String, bytes: Int,
    uploadMilliseconds: Int64, resumes: Int, made: Int? = nil
  ) {
    self.from = from
    self.to = to
    self.proof = proof
    self.bytes = bytes
    self.uploadMilliseconds = uploadMilliseconds
    self.resumes = resumes
    self.made = made
  }
}

public struct AttemptFailure: Error, Hashable, Sendable, Codable {
  /// The `code` of devices whose bootloader put the former image back.
  package static let revertedCode = "reverted"

  public var kind: FailureKind
  /// Equal for failures of the same sort, such as `reverted`.
  public var code: String
  /// For people: a clause.
  public var words: String
  /// Trying again cannot help.
  public var isFinal: Bool
  /// The device was heard or answered.
  public var wasSeen: Bool

  public init(
    _ kind: FailureKind, code: String, words: String, isFinal: Bool = false, wasSeen: Bool = true
  ) {
    self.kind = kind
    self.code = code
    self.words = words
    self.isFinal = isFinal
    self.wasSeen = wasSeen
  }
}

/// Why an attempt was given back.
public enum ReturnReason: String, Hashable, Sendable, Codable, CaseIterable {
  /// No adapter of the one who had it hears the device.
  case notHeard = "not-heard"
  /// Somebody else works on the device.
  case deviceBusy = "device-busy"
  /// The coordinator wanted it back.
  case recalled
  /// The process that had it ends.
  case stopping
  /// The process that had it is gone without a word.
  case holderGone = "holder-gone"
  /// The adapter that it ran on vanished.
  case adapterLost = "adapter-lost"
  /// Its job is over, and no event and no news says how it ended: a part of the store was lost.
  case outcomeLost = "outcome-lost"

  /// For people: a clause.
  public var words: String {
    switch self {
    case .notHeard: "it was not heard"
    case .deviceBusy: "another process works on it"
    case .recalled: "it was called back"
    case .stopping: "the run was interrupted"
    case .holderGone: "the process that worked on it is gone"
    case .adapterLost: "the adapter vanished"
    case .outcomeLost: "its outcome was not recorded"
    }
  }
}

/// What became of a device in the end.
public enum DeviceEnding: Hashable, Sendable, Codable {
  case updated
  case current
  case failed(AttemptFailure)
  /// It failed in the same way again and again.
  case quarantined(AttemptFailure)
  /// Nobody has ever heard it.
  case absent
  /// The campaign's owner left it out, by a hook; why, in words.
  case skipped(words: String)

  /// How it counts in its wave.
  public enum Count: String, Hashable, Sendable, CaseIterable {
    case succeeded, failed, unseen
    /// Neither for nor against.
    case neutral
  }

  public var count: Count {
    switch self {
    case .updated, .current: .succeeded
    case .failed(let failure), .quarantined(let failure):
      failure.kind == .infrastructure ? .neutral : .failed
    case .absent: .unseen
    case .skipped: .neutral
    }
  }
}
