/// A group of devices that are updated together, and the rule for the next wave.
public struct Wave: Hashable, Sendable {
  /// The devices of a wave.
  public enum Members: Hashable, Sendable {
    /// A number of devices.
    case count(Int)
    /// As many devices as are necessary for this wave and all earlier waves to contain a percentage
    /// of all devices, 1…100; the number is rounded up.
    case percent(Int)
    /// Devices by id or name.
    case named([String])
    /// All devices that are not in an earlier wave.
    case rest
  }

  /// The name of the wave, unique in a campaign.
  public var name: String
  /// The devices of the wave.
  public var members: Members
  /// The thresholds of the verdict.
  public var thresholds: WaveThresholds
  /// The wait between the last device and the verdict, so that problems of an image become visible.
  public var soak: Duration
  /// Whether the next wave requires an operator's approval.
  public var needsApproval: Bool

  /// Creates a wave without a soak time and without an approval by default.
  public init(
    _ name: String, _ members: Members, thresholds: WaveThresholds = WaveThresholds(),
    soak: Duration = .zero, needsApproval: Bool = false
  ) {
    self.name = name
    self.members = members
    self.thresholds = thresholds
    self.soak = soak
    self.needsApproval = needsApproval
  }
}

/// The thresholds of a wave's verdict.
public struct WaveThresholds: Hashable, Sendable, Codable {
  /// A number of devices, or a share of the wave.
  public enum Limit: Hashable, Sendable, Codable {
    /// A number of devices.
    case count(Int)
    /// A percentage of the wave's devices, 1…100; at least one device.
    case percent(Int)

    /// Returns the number of devices in a wave of `size`.
    package func devices(of size: Int) -> Int {
      switch self {
      case .count(let count): count
      case .percent(let percent): max(1, (size * percent + 99) / 100)
      }
    }
  }

  /// The action after the verdict `stop`: the wave reached its failure limit or has too few
  /// successes.
  public enum StopAction: String, Hashable, Sendable, Codable, CaseIterable {
    /// The run ends.
    case end
    /// The run pauses; an operator who resumes it accepts the failures so far.
    case pause
  }

  /// The minimum percentage of successes among the judged devices that the next wave requires,
  /// 0…100.
  public var successPercent: Int
  /// The number of failures that stops the wave immediately.
  public var stop: Limit
  /// The minimum percentage of the wave's devices that must be judged (updated or failed), 0…100.
  /// With fewer judged devices, the verdict is `inconclusive` unless the failure limit is reached.
  public var seenPercent: Int
  /// The action after the verdict `stop`; `nil` = the run ends.
  public var stopAction: StopAction?
  /// The number of failures beyond the limit that devices in flight may still cause. Near the
  /// limit, fewer devices are therefore updated at the same time. `nil` = as many failures as
  /// devices in flight.
  public var overshoot: Int?

  /// Creates thresholds.
  public init(
    successPercent: Int = 80, stop: Limit = .percent(20), seenPercent: Int = 50,
    stopAction: StopAction? = nil, overshoot: Int? = nil
  ) {
    self.successPercent = successPercent
    self.stop = stop
    self.seenPercent = seenPercent
    self.stopAction = stopAction
    self.overshoot = overshoot
  }
}
