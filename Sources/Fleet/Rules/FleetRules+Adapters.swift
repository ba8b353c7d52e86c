extension FleetRules {
  /// Without any adapter for so long, the run pauses: an adapter that is plugged in anew is there
  /// within seconds.
  package static let adapterPatience = Duration.seconds(30)

  /// What it means that there is no adapter, or that there is one again: a run pauses for want of
  /// one only where something waits for it, and goes on by itself.
  ///
  /// - Parameter time: for how long there has been none; `nil` where there is an adapter, or nobody
  ///   knows.
  package func events(noAdapterFor time: Duration?, in run: FleetRun) -> [FleetEvent] {
    guard let time else {
      return run.control == .paused(.noAdapter) ? [.runResumed] : []
    }
    guard run.control == .running, run.openCount > 0 else { return [] }
    let isOver = time >= Self.adapterPatience
    // What failed so often did so for want of an adapter.
    guard isOver || run.infrastructureFailures >= campaign.retries.infrastructureFailures else {
      return []
    }
    return [.runPaused(because: .noAdapter)]
  }
}
