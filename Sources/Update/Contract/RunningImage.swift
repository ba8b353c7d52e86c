import OtaflashFirmware

/// What a device runs, as it says itself.
public struct RunningImage: Equatable, Sendable {
  /// How it compares with the image of the update: the weaker the proof, the later the case.
  public enum Agreement: Int, Comparable, Sendable {
    /// It is that image, byte for byte.
    case same
    /// It has that image's version; its bytes cannot be compared.
    case sameVersion
    /// Its version cannot be compared, but what it tells of itself is not what was told before.
    case changed
    /// It tells nothing that could be compared; its bootloader has checked what it started.
    case untold
    /// It is another image.
    case different

    public static func < (lhs: Agreement, rhs: Agreement) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// `nil` when the device does not tell.
  public let version: FirmwareVersion?
  /// The build number of the version; `nil` where the device reports none, or 0.
  public var build: UInt32?
  /// What is known of it, compared with the image of the update.
  public let agreement: Agreement
  /// What the device's last start came to, as it says itself.
  public let outcome: DeviceReport.BootOutcome
  /// It runs for this once, and the host can confirm it.
  public let isOnTrial: Bool
  /// What only the device's user can do so that it stays; `nil` where nothing is needed.
  public let validation: String?

  /// What a session has read of a device after its restart.
  public init(
    version: FirmwareVersion?, agreement: Agreement,
    outcome: DeviceReport.BootOutcome = .normal, isOnTrial: Bool = false, validation: String? = nil
  ) {
    self.version = version
    self.agreement = agreement
    self.outcome = outcome
    self.isOnTrial = isOnTrial
    self.validation = validation
  }
}
