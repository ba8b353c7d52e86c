/// The times of a wave. If an event occurs more than once, the last time is used.
public struct WaveTimes: Hashable, Sendable {
  /// The start of the wave.
  public internal(set) var began: WallClockTime?
  /// The start of the soak time.
  public internal(set) var soakBegan: WallClockTime?
  /// The end of the soak time.
  public internal(set) var soakUntil: WallClockTime?
  /// The time of the verdict.
  public internal(set) var judged: WallClockTime?
  /// The time from which the next wave waited for an approval.
  public internal(set) var approvalAsked: WallClockTime?
  /// The time of the approval.
  public internal(set) var approved: WallClockTime?
  /// The command that approved the next wave.
  public internal(set) var approvedBy: OperatorAction?
}

/// A command of an operator.
public struct OperatorRecord: Hashable, Sendable {
  /// The command.
  public let action: OperatorAction
  /// The time at which the command was recorded.
  public let at: WallClockTime
}

/// A period in which no attempt started.
public struct PauseRecord: Hashable, Sendable {
  /// The reason of the pause.
  public let reason: PauseReason
  /// The start of the pause.
  public let from: WallClockTime
  /// The end of the pause; `nil` = the pause has not ended.
  public internal(set) var until: WallClockTime?
}
