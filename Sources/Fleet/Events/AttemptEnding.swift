import OtaflashFirmware

/// The origin of a failure, which determines whether the failure counts against a wave, and whether
/// the attempt is retried.
public enum FailureKind: String, Hashable, Sendable, Codable, CaseIterable {
  /// The update failed at the device: for example, the device rejected or reverted the image, or
  /// runs another image.
  case device
  /// The link was lost or not established, or the attempt exceeded its time limit.
  case link
  /// The host failed: an adapter disappeared, a disk is full, or otaflash has a bug. This kind
  /// never counts against a wave.
  case infrastructure
}

/// The outcome of one attempt on one device.
public enum AttemptEnding: Hashable, Sendable, Codable {
  /// The device runs the image that this attempt sent.
  case updated(UpdateFigures)
  /// The device already ran the image.
  case current(version: FirmwareVersion?)
  /// The attempt failed.
  case failed(AttemptFailure)
  /// A hook or a condition of the campaign excluded the device; `words` is the reason.
  case skipped(words: String)
  /// The worker returned the job without a judgment on the device.
  case returned(ReturnReason)
}

/// The figures of a successful update.
public struct UpdateFigures: Hashable, Sendable, Codable {
  /// The version before the update; `nil` = unknown.
  public var from: FirmwareVersion?
  /// The version after the update; `nil` = unknown.
  public var to: FirmwareVersion?
  /// The evidence that the image runs: `read-back`, `version`, …
  public var proof: String
  /// The bytes sent, including repeated bytes.
  public var bytes: Int
  /// The duration of the transfer in milliseconds.
  public var uploadMilliseconds: Int64
  /// The number of times that the transfer was resumed after a lost link.
  public var resumes: Int
  /// The bytes of the image that the device created from a patch or compressed image; `nil` = the
  /// device received the image itself.
  public var made: Int?

  private enum CodingKeys: String, CodingKey {
    case from, to, proof, uploadMilliseconds, resumes, made
    // The key in stored events.
    case bytes = "octets"
  }

  /// Creates the figures of an update.
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

/// The failure of an attempt.
public struct AttemptFailure: Error, Hashable, Sendable, Codable {
  /// The `code` of devices whose bootloader reverted to the previous image.
  package static let revertedCode = "reverted"

  /// The origin of the failure.
  public var kind: FailureKind
  /// The code of the failure, such as `reverted`. Equal failures have the same code.
  public var code: String
  /// The message, as a clause.
  public var words: String
  /// Whether a retry cannot succeed.
  public var isFinal: Bool
  /// Whether the device advertised or answered.
  public var wasSeen: Bool

  /// Creates a failure.
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

/// The reason why a worker returned an attempt.
public enum ReturnReason: String, Hashable, Sendable, Codable, CaseIterable {
  /// No adapter of the worker discovered the device.
  case notHeard = "not-heard"
  /// Another process uses the device.
  case deviceBusy = "device-busy"
  /// The coordinator cancelled the job.
  case recalled
  /// The process of the worker is ending.
  case stopping
  /// The worker could not renew its claim in time, and stopped sending.
  case claimLost = "claim-lost"
  /// The process of the worker ended without a report.
  case holderGone = "holder-gone"
  /// The adapter of the attempt disappeared.
  case adapterLost = "adapter-lost"
  /// The job is over, but no event states its outcome, because a part of the store was lost.
  case outcomeLost = "outcome-lost"

  /// The reason, as a clause.
  public var words: String {
    switch self {
    case .notHeard: "the device was not found"
    case .deviceBusy: "another process uses the device"
    case .recalled: "the run cancelled the attempt"
    case .stopping: "the run was interrupted"
    case .claimLost: "the worker could not renew its claim in time"
    case .holderGone: "the process that updated the device ended"
    case .adapterLost: "the adapter was disconnected"
    case .outcomeLost: "the outcome was not recorded"
    }
  }
}

/// The final outcome of a device.
public enum DeviceEnding: Hashable, Sendable, Codable {
  /// The device runs the image that this run sent.
  case updated
  /// The device already ran the image.
  case current
  /// The device failed, and is not retried.
  case failed(AttemptFailure)
  /// The device failed repeatedly in the same way.
  case quarantined(AttemptFailure)
  /// No advertisement of the device was received.
  case absent
  /// A hook or a condition of the campaign excluded the device; `words` is the reason.
  case skipped(words: String)

  /// The category in which the device counts in its wave.
  public enum Count: String, Hashable, Sendable, CaseIterable {
    /// The device runs the image.
    case succeeded
    /// The device failed.
    case failed
    /// The device was not found.
    case unseen
    /// The device counts as neither a success nor a failure.
    case neutral
  }

  /// The category in which this outcome counts.
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
