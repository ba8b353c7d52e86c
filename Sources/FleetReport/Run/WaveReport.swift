import OtaflashFleet

/// How a wave went.
package struct WaveReport: Hashable, Sendable {
  package let name: String
  /// What decides about it; `nil` = a run that did not record it.
  package let rule: WaveRule?
  /// Its devices, by their place in the report.
  package let devices: Range<Int>
  package let counts: OutcomeCounts
  package let phase: WaveProgress.Phase
  package let verdict: WaveVerdict?
  /// The run has ended: what the wave has not reached, it will not reach.
  package let isOver: Bool
  package let times: WaveTimes
}

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
package struct OperatorReport: Hashable, Sendable {
  package let action: OperatorAction
  package let at: FleetTime
}

/// A time in which nothing new was begun.
package struct PauseReport: Hashable, Sendable {
  package let reason: PauseReason
  package let from: FleetTime
  /// `nil` = it lasts.
  package internal(set) var until: FleetTime?
}
