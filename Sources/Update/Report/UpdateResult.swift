import OtaflashFirmware

/// The result of a successful update.
public struct UpdateResult: Equatable, Sendable {
  /// The outcome of the update.
  public enum Outcome: String, Sendable {
    /// The image was sent and activated, and the new image was verified to run.
    case flashed
    /// The image was sent, and the device has restarted. The device reports nothing that shows
    /// which image runs.
    case restarted
    /// The device already runs this image, as its hash or CRC32 shows or, if the device reports
    /// neither, its version. Nothing was sent.
    case alreadyCurrent = "already-current"
    /// A dry run found no obstacle.
    case wouldFlash = "would-flash"
  }

  /// The outcome of the update.
  public var outcome: Outcome
  /// The version that ran before; `nil` if unknown.
  public var from: FirmwareVersion?
  /// The version of the image; `nil` if unknown.
  public var to: FirmwareVersion?
  /// The evidence that the new image runs.
  public enum Proof: String, Sendable {
    /// No evidence, because the run was a dry run.
    case none
    /// No evidence of the image: the device has restarted, and reports no value that has changed.
    case restarted
    /// The device restarted from its bootloader, which had checked the image and starts no other
    /// image. The values of the application, if it reports any, are the same as before.
    case bootloader = "boot-loader"
    /// The same as `bootloader`, but the values of the application (Device Information, Database
    /// Hash) differ from those before the update. These values do not identify the image.
    case changed
    /// The application reports the image's version, which did not run before, as far as known. Only
    /// the bootloader compared the bytes.
    case version
    /// The hash or CRC32 of the running image was read back after the restart, and matches the sent
    /// image.
    case readBack = "read-back"

    /// Whether this is evidence that the new image runs.
    public var isEvidence: Bool {
      switch self {
      case .none, .restarted: false
      case .bootloader, .changed, .version, .readBack: true
      }
    }
  }

  /// The evidence that the new image runs.
  public var proof: Proof
  /// Whether the new image was verified to run.
  public var isVerified: Bool { proof.isEvidence }
  /// The duration of the complete run.
  public var took: Duration
  /// The number of bytes of the image, or of the stream that replaced it, sent in this run,
  /// including repeated bytes.
  public var bytesSent: Int
  /// The duration of the upload stage.
  public var uploadTook: Duration
  /// The duration of the verify stage, in which a device that creates the image from other content
  /// may still write the image.
  public var verifyTook = Duration.zero
  /// The number of times that the transfer resumed at an offset greater than 0.
  public var resumes: Int
  /// The flow of the upload; `nil` if nothing was sent, or the protocol does not measure the flow.
  public var flow: TransferFlow?
  /// The action that only the device's user can take to keep the new image after the next restart,
  /// as one complete sentence; `nil` if no action is needed.
  public var validation: String?
  /// Whether the image was already on trial and this run confirmed it.
  public var confirmedTrial = false
  /// Whether an installer has run, so that the device's firmware loader now waits for an
  /// application.
  public var awaitsApplication = false

  /// The content that was sent; `nil` if nothing was sent, or if only the image was an option.
  public var delivery: DeliveryReport?
  /// The number of image bytes that the device received, or created from other content, in this
  /// run; `nil` if `delivery` is `nil`.
  public var bytesMade: Int?

  /// Creates a result, for example for the tests of an app.
  public init(
    outcome: Outcome, from: FirmwareVersion?, to: FirmwareVersion?, proof: Proof,
    took: Duration, bytesSent: Int, uploadTook: Duration, resumes: Int, validation: String? = nil,
    delivery: DeliveryReport? = nil, bytesMade: Int? = nil
  ) {
    self.outcome = outcome
    self.from = from
    self.to = to
    self.proof = proof
    self.took = took
    self.bytesSent = bytesSent
    self.uploadTook = uploadTook
    self.resumes = resumes
    self.validation = validation
    self.delivery = delivery
    self.bytesMade = bytesMade
  }
}
