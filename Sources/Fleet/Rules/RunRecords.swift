/// When what happened to a wave; the last time, where it happened more than once.
package struct WaveTimes: Hashable, Sendable {
  package internal(set) var began: FleetTime?
  package internal(set) var soakBegan: FleetTime?
  package internal(set) var soakUntil: FleetTime?
  package internal(set) var judged: FleetTime?
  package internal(set) var approvalAsked: FleetTime?
  package internal(set) var approved: FleetTime?
  package internal(set) var approvedBy: OperatorAction?
}

/// A command of an operator.
package struct OperatorRecord: Hashable, Sendable {
  package let action: OperatorAction
  package let at: FleetTime
}

/// A time in which nothing new was begun.
package struct PauseRecord: Hashable, Sendable {
  package let reason: PauseReason
  package let from: FleetTime
  /// `nil` = it lasts.
  package internal(set) var until: FleetTime?
}
