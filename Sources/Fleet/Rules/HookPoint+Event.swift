extension HookPoint {
  /// The point that a run reaches with a recorded event; `nil` = none, or one of a device or wave,
  /// whose hooks have events of their own.
  package init?(reachedBy event: FleetEvent) {
    switch event {
    case .runPaused, .approvalAwaited: self = .runPaused
    case .runEnded(.stopped): self = .runStopped
    case .runEnded(.complete), .runEnded(.cancelled): self = .runEnded
    default: return nil
    }
  }
}
