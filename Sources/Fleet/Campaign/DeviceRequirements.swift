import OtaflashFirmware

/// The conditions that a device must meet before an update. They do not apply to a device that
/// already runs its image, or that is in its bootloader.
public struct DeviceRequirements: Hashable, Sendable, Codable {
  /// The battery level that a device must have.
  public struct Battery: Hashable, Sendable, Codable {
    /// The treatment of a device that reports no battery level.
    public enum Unknown: String, CaseIterable, Sendable, Codable {
      /// The device is updated.
      case proceed
      /// The device is skipped.
      case refuse
    }

    /// The lowest level, 1…100.
    public var percent: Int
    /// The rule for a device that reports no level.
    public var unknown: Unknown

    /// Creates the requirement of a minimum level.
    public init(percent: Int, unknown: Unknown = .proceed) {
      self.percent = percent
      self.unknown = unknown
    }
  }

  /// The minimum version that a device must run before the update; `nil` = any version.
  public var version: FirmwareVersion?
  /// The required battery level; `nil` = any level.
  public var battery: Battery?

  /// Creates conditions; `nil` = no condition.
  public init(version: FirmwareVersion? = nil, battery: Battery? = nil) {
    self.version = version
    self.battery = battery
  }

  package var isEmpty: Bool { version == nil && battery == nil }

  /// Returns the reason why a device that runs `running` is skipped, as a clause; `nil` = the
  /// device is updated. A device that reports no version is skipped, because an update that skips a
  /// required version may be irreversible.
  package func refusal(running: FirmwareVersion?) -> String? {
    guard let version else { return nil }
    guard let running else {
      return "it reports no version, but the campaign requires \(version) or later"
    }
    return running < version
      ? "it runs \(running), but the campaign requires \(version) or later" : nil
  }

  /// Returns the reason why a device with a battery level is skipped, as a clause; `nil` = the
  /// device is updated.
  ///
  /// - Parameter level: the level in percent; `nil` = the device reports none.
  package func refusal(batteryLevel level: Int?) -> String? {
    guard let battery else { return nil }
    guard let level else {
      return battery.unknown == .refuse
        ? "it reports no battery level, but the campaign requires \(battery.percent) %" : nil
    }
    return level < battery.percent
      ? "its battery level is \(level) %, but the campaign requires \(battery.percent) %" : nil
  }
}
