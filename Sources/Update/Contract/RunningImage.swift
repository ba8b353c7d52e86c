import OtaflashFirmware

/// The image that a device runs, as the device reports it.
public struct RunningImage: Equatable, Sendable {
  /// The result of the comparison with the image of the update; later cases are weaker evidence.
  public enum Agreement: Int, Comparable, Sendable {
    /// The running image is identical to the image of the update.
    case same
    /// The version is the same, but the bytes cannot be compared.
    case sameVersion
    /// The version cannot be compared, but the values that the application reports have changed.
    case changed
    /// The device reports no comparable value; its bootloader checked the image that it started.
    case untold
    /// The device has restarted and reports no comparable value, and nothing shows that it checked
    /// the image.
    case restarted
    /// The device runs another image.
    case different

    public static func < (lhs: Agreement, rhs: Agreement) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// The running version; `nil` if the device does not report it.
  public let version: FirmwareVersion?
  /// The build number of the version; `nil` if the device reports none or 0.
  public var build: UInt32?
  /// The result of the comparison with the image of the update.
  public let agreement: Agreement
  /// The outcome of the device's last start, as the device reports it.
  public let outcome: DeviceReport.BootOutcome
  /// Whether the image runs on trial and the host can confirm the image.
  public let isOnTrial: Bool
  /// The action that only the device's user can take to keep the image; `nil` if no action is
  /// needed.
  public let validation: String?

  /// Creates the state that a session read from a device.
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
