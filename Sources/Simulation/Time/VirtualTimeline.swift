import OtaflashATT
import OtaflashGATT
import Synchronization

/// Runs asynchronous code in virtual time on the calling thread: all jobs that are ready, in the
/// order in which they became ready, then a jump to the next timer.
///
/// A run depends on nothing but its inputs. Child tasks inherit the executor; unstructured tasks
/// and actors with an executor of their own do not, and have no place in a simulation.
public final class VirtualTimeline: TaskExecutor, Sendable {
  /// Jobs that may run at one instant before the run is called spinning.
  package static let jobsPerInstantMaximum = 500_000
  /// Jobs that a failed run may still execute while its cancelled tasks unwind.
  static let unwindingJobsMaximum = 500_000

  private let state = Mutex(TimelineState())
  private let chance: Mutex<SeededRandom?>

  /// - Parameter chance: what the clock's random numbers are drawn from; `nil` makes them all 0, so
  ///   that every wait is as long as it was told to be.
  public init(chance: SeededRandom? = nil) { self.chance = Mutex(chance) }

  /// The clock of this timeline, at zero before the first run.
  public var clock: VirtualClock { VirtualClock(timeline: self) }

  /// Runs `body` to its end. A timeline may run several bodies, one after the other; time goes on.
  ///
  /// - Parameters:
  ///   - limit: the virtual time that the run may take.
  ///   - body: gets the clock on which everything in it must wait.
  /// - Throws: the hang that was found. The body's task is cancelled and unwound as far as it
  ///   reacts to that; what still waits then stays suspended for ever.
  public func run<Value: Sendable>(
    limit: Duration = .seconds(86_400), _ body: @escaping @Sendable (VirtualClock) async -> Value
  ) throws(SimulationFault) -> Value {
    state.withLock { $0.beginRun() }
    defer { state.withLock { $0.endRun() } }
    let outcome = Outcome<Value>()
    let clock = clock
    let task = Task(executorPreference: self) { outcome.store(await body(clock)) }
    do throws(SimulationFault) {
      return try drive(outcome, until: clock.now.advanced(by: limit), limit: limit)
    } catch {
      task.cancel()
      unwind()
      throw error
    }
  }

  private func drive<Value>(
    _ outcome: Outcome<Value>, until end: LinkInstant, limit: Duration
  ) throws(SimulationFault) -> Value {
    while true {
      let ran = runReadyJobs(atMost: Self.jobsPerInstantMaximum)
      if let value = outcome.value { return value }
      guard ran < Self.jobsPerInstantMaximum else { throw .spinning(at: now, jobs: ran) }
      switch state.withLock({ $0.jump(noLaterThan: end) }) {
      case .woke(let sleeper): sleeper.resume(returning: true)
      case .nothingPending: throw .deadlocked(at: now)
      case .beyondEnd: throw .timeLimitExceeded(limit: limit)
      }
    }
  }

  /// Runs jobs until none is ready or `maximum` have run; says how many did.
  private func runReadyJobs(atMost maximum: Int) -> Int {
    var ran = 0
    while ran < maximum, let job = state.withLock({ $0.takeReadyJob() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      ran += 1
      while let sleeper = state.withLock({ $0.takeDueSleeper() }) {
        sleeper.resume(returning: true)
      }
    }
    return ran
  }

  private func unwind() { _ = runReadyJobs(atMost: Self.unwindingJobsMaximum) }

  /// Puts a job behind those that are ready at this moment.
  public func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    state.withLock { $0.ready.append(unowned) }
  }
}

extension VirtualTimeline {
  var now: LinkInstant { state.withLock { $0.now } }

  func randomFraction() -> Double {
    chance.withLock { chance in
      guard var random = chance else { return 0 }
      defer { chance = random }
      return Double.random(in: 0..<1, using: &random)
    }
  }

  /// Suspends until `deadline`; `false` when the task was cancelled first. Suspends even when the
  /// deadline has passed, so that other ready jobs get their turn.
  func sleep(until deadline: LinkInstant) async -> Bool {
    let number = state.withLock { $0.newSleeperNumber() }
    return await withTaskCancellationHandler {
      await withUnsafeContinuation { sleeper in
        // The flag is read under the lock: a later cancellation finds the registered sleeper.
        let isCancelled = state.withLock { state in
          if Task.isCancelled { return true }
          state.register(sleeper, number: number, until: deadline)
          return false
        }
        if isCancelled { sleeper.resume(returning: false) }
      }
    } onCancel: {
      let sleeper = state.withLock { $0.cancelSleeper(number) }
      sleeper?.resume(returning: false)
    }
  }
}

/// Where the body leaves its value for the thread that drives it.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  var value: Value? { stored.withLock { $0 } }

  func store(_ value: Value) { stored.withLock { $0 = value } }
}
