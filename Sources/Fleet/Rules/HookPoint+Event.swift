extension HookPoint {
  /// Creates the hook point that a run reaches with a recorded event. Returns `nil` if the run
  /// reaches no point, or if it reaches the point of a device or wave, whose hooks have separate
  /// events.
  package init?(reachedBy event: FleetEvent) {
    switch event {
    case .runPaused, .approvalAwaited: self = .runPaused
    case .runEnded(.stopped): self = .runStopped
    case .runEnded(.complete), .runEnded(.cancelled): self = .runEnded
    default: return nil
    }
  }
}
