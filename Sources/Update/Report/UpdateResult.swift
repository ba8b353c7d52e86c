import OtaflashFirmware

/// How an update ended well.
public struct UpdateResult: Equatable, Sendable {
  /// What the update has done.
  public enum Outcome: String, Sendable {
    /// Sent, activated, and the new image was seen running.
    case flashed
    /// The device runs this very image already, by its hash or CRC32; or, where no device tells
    /// these, by its version. Nothing was sent.
    case alreadyCurrent = "already-current"
    /// A dry run: nothing stands in the way.
    case wouldFlash = "would-flash"
  }

  /// What the update has done.
  public var outcome: Outcome
  /// The version that ran before; `nil` where nobody tells.
  public var from: FirmwareVersion?
  /// The image's version; `nil` where nobody says.
  public var to: FirmwareVersion?
  /// How it is known that the new image runs.
  public enum Proof: String, Sendable {
    /// It is not: nothing was sent.
    case none
    /// The device restarted out of its bootloader, which had checked the image and starts no
    /// other. What the application tells of itself, if anything, it told before, too.
    case bootloader = "boot-loader"
    /// The same, and what the application tells of itself (Device Information, Database Hash) is
    /// not what was told before the update. That it belongs to the image, nobody says.
    case changed
    /// The same, and the application tells the image's version, which did not run before as far as
    /// that was told. Its bytes were compared by the bootloader alone.
    case version
    /// What runs was read after the restart, and is the image that was sent, by its hash or CRC32.
    case readBack = "read-back"
  }

  /// How it is known that the new image runs.
  public var proof: Proof
  /// The new image is known to run.
  public var isVerified: Bool { proof != .none }
  /// The whole run.
  public var took: Duration
  /// Bytes sent in this run, repeats included: of the image, or of what was sent instead.
  public var bytesSent: Int
  /// The time of the upload stage alone.
  public var uploadTook: Duration
  /// The time of the verify stage alone: a device that makes an image of a patch may still be
  /// writing it then.
  public var verifyTook = Duration.zero
  /// How often the transfer was taken up again in the middle.
  public var resumes: Int
  /// What the upload waited for; `nil` where nothing was sent, or the protocol does not measure it.
  public var flow: TransferFlow?
  /// What only the device's user can do so that the new image outlives the next restart: one whole
  /// sentence. `nil` where nothing is needed.
  public var validation: String?
  /// The image ran on trial already, and this run confirmed it.
  public var confirmedTrial = false
  /// An installer has done its work: the device's firmware loader runs, and waits for an
  /// application.
  public var awaitsApplication = false

  /// What was sent; `nil` where the device takes nothing but images, or nothing was sent.
  public var delivery: DeliveryReport?
  /// Bytes of the image that the device has got in this run, where something was sent instead.
  public var bytesMade: Int?

  /// A result, as a test of an app may want one.
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
