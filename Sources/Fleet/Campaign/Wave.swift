/// Devices that are updated together, and what decides whether the next ones are.
public struct Wave: Hashable, Sendable {
  /// Who is in a wave.
  public enum Members: Hashable, Sendable {
    /// So many more devices.
    case count(Int)
    /// As many more as bring the share of all devices that are in this wave or an earlier one to
    /// so many percent, 1…100; rounded up.
    case percent(Int)
    /// These, by id or name.
    case named([String])
    /// All that are in no earlier wave.
    case rest
  }

  public var name: String
  public var members: Members
  public var thresholds: WaveThresholds
  /// From the last device's end to the verdict's effect: time in which a bad image may show.
  public var soak: Duration
  /// The next wave waits until a person agrees.
  public var needsApproval: Bool

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

/// What a wave's verdict is made of.
public struct WaveThresholds: Hashable, Sendable, Codable {
  /// A number of devices, or a share of the wave.
  public enum Limit: Hashable, Sendable, Codable {
    case count(Int)
    /// 1…100, of the wave's devices; at least one device.
    case percent(Int)

    /// The number of devices it means in a wave of `size`.
    package func devices(of size: Int) -> Int {
      switch self {
      case .count(let count): count
      case .percent(let percent): max(1, (size * percent + 99) / 100)
      }
    }
  }

  /// What follows when a wave has reached its failure limit.
  public enum StopAction: String, Hashable, Sendable, Codable, CaseIterable {
    /// The run ends.
    case end
    /// The run pauses; an operator who resumes it accepts the failures so far.
    case pause
  }

  /// Of the devices that were judged, the least share that must have succeeded for the next wave to
  /// begin, in percent, 0…100.
  public var successPercent: Int
  /// So many failures end the campaign, at once.
  public var stop: Limit
  /// Of the wave's devices, the least share that must have been seen for a verdict, in percent,
  /// 0…100.
  public var seenPercent: Int
  /// `nil` = the run ends.
  public var stopAction: StopAction?
  /// Failures beyond the limit that devices in flight may still cause: near the limit fewer devices
  /// are updated at the same time. `nil` = as many as are in flight.
  public var overshoot: Int?

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
