import OtaflashFirmware

/// The image that a device runs, as the device reports it.
public struct RunningImage: Equatable, Sendable {
  /// The result of the comparison with the image of the update; later cases are weaker evidence.
  public enum Agreement: Int, Comparable, Sendable {
    /// The same image, byte for byte.
    case same
    /// The same version; the bytes cannot be compared.
    case sameVersion
    /// The version cannot be compared, but the application reports other values than before.
    case changed
    /// The device reports nothing comparable; its bootloader checked the image that it started.
    case untold
    /// Another image.
    case different

    public static func < (lhs: Agreement, rhs: Agreement) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// `nil` if the device does not report it.
  public let version: FirmwareVersion?
  /// The build number of the version; `nil` where the device reports none, or 0.
  public var build: UInt32?
  /// The result of the comparison with the image of the update.
  public let agreement: Agreement
  /// The outcome of the device's last start, as the device reports it.
  public let outcome: DeviceReport.BootOutcome
  /// The image runs on trial, and the host can confirm it.
  public let isOnTrial: Bool
  /// The action that only the device's user can take to keep the image; `nil` if none is needed.
  public let validation: String?

  /// The state that a session read from a device after its restart.
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
