extension FleetRules {
  /// The time without an adapter after which the run pauses. A replugged adapter is available
  /// within seconds.
  package static let adapterPatience = Duration.seconds(30)

  /// Returns the events after the last adapter disappeared or an adapter appeared. A run pauses
  /// because of missing adapters only if jobs are open, and resumes automatically when an adapter
  /// appears.
  ///
  /// - Parameter time: the time without an adapter; `nil` if an adapter is present or the state is
  ///   unknown.
  package func events(noAdapterFor time: Duration?, in run: FleetRun) -> [FleetEvent] {
    guard let time else {
      return run.control == .paused(.noAdapter) ? [.runResumed] : []
    }
    guard run.control == .running, run.openCount > 0 else { return [] }
    let isOver = time >= Self.adapterPatience
    // Repeated infrastructure failures are attributed to the missing adapter.
    guard isOver || run.infrastructureFailures >= campaign.retries.infrastructureFailures else {
      return []
    }
    return [.runPaused(because: .noAdapter)]
  }
}
