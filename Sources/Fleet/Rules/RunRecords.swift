/// When what happened to a wave; the last time, where it happened more than once.
package struct WaveTimes: Hashable, Sendable {
  package internal(set) var began: WallClockTime?
  package internal(set) var soakBegan: WallClockTime?
  package internal(set) var soakUntil: WallClockTime?
  package internal(set) var judged: WallClockTime?
  package internal(set) var approvalAsked: WallClockTime?
  package internal(set) var approved: WallClockTime?
  package internal(set) var approvedBy: OperatorAction?
}

/// A command of an operator.
package struct OperatorRecord: Hashable, Sendable {
  package let action: OperatorAction
  package let at: WallClockTime
}

/// A time in which nothing new was begun.
package struct PauseRecord: Hashable, Sendable {
  package let reason: PauseReason
  package let from: WallClockTime
  /// `nil` = it lasts.
  package internal(set) var until: WallClockTime?
}
