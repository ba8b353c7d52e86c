import OtaflashATT
import OtaflashNumerals

/// The reason why a simulated run was stopped: the code under test hangs or has left virtual time.
/// Each run detects the same fault at the same virtual time, except `Departure.otherThread`, which
/// depends on real scheduling.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum SimulationFault: Error, Equatable, Sendable {
  /// No job is ready and no timer is set, but the body has not returned: a lost wake-up.
  case deadlocked(at: LinkInstant)
  /// Virtual time would exceed the limit of the run: the code waits, polls or retries indefinitely.
  case timeLimitExceeded(limit: Duration)
  /// `jobs` jobs ran without an advance of the clock: a busy loop.
  case spinning(at: LinkInstant, jobs: Int)
  /// Code of the run left virtual time, so that the result would depend on real scheduling.
  case leftVirtualTime(at: LinkInstant, by: Departure)

  /// The way in which code left virtual time.
  public enum Departure: Equatable, Sendable {
    /// A task was created without the timeline as its executor: unstructured or detached. Use a
    /// child task (`async let`, a task group), or pass `executorPreference: clock.executor`.
    case unstructuredTask
    /// Code that is isolated to the main actor was called. Call this code outside of the
    /// simulation, or isolate the model to another actor.
    case mainActor
    /// Another thread resumed a task of the run, or sleeps on its clock.
    case otherThread
  }
}

extension SimulationFault: CustomStringConvertible {
  public var description: String {
    switch self {
    case .deadlocked(let instant):
      "no job could run after \(Numerals.seconds(instant.elapsed)): a lost wake-up"
    case .timeLimitExceeded(let limit): "the run took longer than \(Numerals.seconds(limit))"
    case .spinning(let instant, let jobs):
      "\(jobs) jobs ran after \(Numerals.seconds(instant.elapsed)), without an advance of time"
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
