import OtaflashATT
import OtaflashNumerals

/// Why a simulated run did not come to its end: a hang of the code under test, found at once and
/// at the same place in every run.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SimulationFault: Error, Equatable, Sendable {
  /// Nothing can run and no timer is set, but the body has not returned: a lost wake-up.
  case deadlocked(at: LinkInstant)
  /// Virtual time would pass the limit of the run: something waits, polls or retries for ever.
  case timeLimitExceeded(limit: Duration)
  /// `jobs` jobs ran without the clock moving: something spins.
  case spinning(at: LinkInstant, jobs: Int)
  /// Code of the run left virtual time, so the result would depend on real scheduling.
  case leftVirtualTime(at: LinkInstant, by: Departure)

  /// A way out of virtual time.
  public enum Departure: Equatable, Sendable {
    /// A task was created without the timeline as its executor: a plain or a detached one. Use a
    /// child task (`async let`, a task group), or pass `executorPreference: clock.executor`.
    case unstructuredTask
    /// Code that is isolated to the main actor. Call it outside of the simulation, or isolate the
    /// model to an actor of its own.
    case mainActor
    /// Another thread resumed a task of the run, or sleeps on its clock.
    case otherThread
  }
}

extension SimulationFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .deadlocked(let instant):
      "nothing could run any more after \(Numerals.seconds(instant.elapsed)): a lost wake-up"
    case .timeLimitExceeded(let limit): "it took longer than \(Numerals.seconds(limit))"
    case .spinning(let instant, let jobs):
      "\(jobs) jobs ran after \(Numerals.seconds(instant.elapsed)), and no time passed"
    case .leftVirtualTime(let instant, let departure):
      "after \(Numerals.seconds(instant.elapsed)) the run left virtual time: \(departure.reason)"
    }
  }
}

extension SimulationFault.Departure {
  fileprivate var reason: String {
    switch self {
    case .unstructuredTask:
      "a task was created without the timeline as its executor; use a child task, or pass "
        + "`executorPreference: clock.executor`"
    case .mainActor:
      "code on the main actor was called; call it outside of the simulation, or use another actor"
    case .otherThread:
      "another thread resumed a task of the run, or sleeps on its clock; wait on the clock of the "
        + "simulation, in tasks of the simulation only"
    }
  }
}
