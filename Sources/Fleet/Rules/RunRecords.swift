/// The times of a wave; for repeated events, the last time.
public struct WaveTimes: Hashable, Sendable {
  public internal(set) var began: WallClockTime?
  public internal(set) var soakBegan: WallClockTime?
  public internal(set) var soakUntil: WallClockTime?
  public internal(set) var judged: WallClockTime?
  public internal(set) var approvalAsked: WallClockTime?
  public internal(set) var approved: WallClockTime?
  public internal(set) var approvedBy: OperatorAction?
}

/// A command of an operator.
public struct OperatorRecord: Hashable, Sendable {
  public let action: OperatorAction
  public let at: WallClockTime
}

/// A time in which no attempt started.
public struct PauseRecord: Hashable, Sendable {
  public let reason: PauseReason
  public let from: WallClockTime
  /// `nil` = the pause has not ended.
  public internal(set) var until: WallClockTime?
}
