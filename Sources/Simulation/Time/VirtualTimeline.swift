import OtaflashATT
import OtaflashGATT
import Synchronization

/// Runs asynchronous code in virtual time on the calling thread: it runs all ready jobs in the
/// order in which they became ready, and then advances the clock to the next timer.
///
/// A run depends only on its inputs. Child tasks inherit the executor. Unstructured tasks and code
/// on the main actor do not: a run that uses them ends with `SimulationFault.leftVirtualTime`.
/// Create such a task with this executor instead (`Task(executorPreference: clock.executor)`).
public final class VirtualTimeline: TaskExecutor, Sendable {
  /// The number of jobs at one instant from which a run counts as spinning.
  package static let jobsPerInstantMaximum = 500_000
  /// The maximum number of jobs that a failed run executes while its cancelled tasks unwind.
  static let unwindingJobsMaximum = 500_000

  private static let count = Atomic<UInt64>(0)

  /// The number of the timeline, 1 or more, unique in the process.
  private let number = count.wrappingAdd(1, ordering: .relaxed).newValue
  private let state = Mutex(TimelineState())
  private let chance: Mutex<SeededRandom?>

  /// - Parameter chance: the generator of the clock's random numbers; `nil` makes them all 0, so
  ///   that every wait is exactly as long as requested.
  public init(chance: SeededRandom? = nil) { self.chance = Mutex(chance) }

  /// The clock of this timeline, at zero before the first run.
  public var clock: VirtualClock { VirtualClock(timeline: self) }

  /// Runs `body` until it returns. A timeline may run several bodies in sequence; time continues.
  ///
  /// - Parameters:
  ///   - limit: the maximum virtual time of the run.
  ///   - body: receives the clock on which all its waits must be.
  /// - Throws: `SimulationFault` if the code hangs or has left virtual time. The body's task is
  ///   then cancelled, and ends if it reacts to the cancellation. Code that still waits afterwards
  ///   stays suspended indefinitely.
  public func run<Value: Sendable>(
    limit: Duration = .seconds(86_400), _ body: @escaping @Sendable (VirtualClock) async -> Value
  ) throws(SimulationFault) -> Value {
    state.withLock { $0.beginRun() }
    defer { state.withLock { $0.endRun() } }
    let outcome = Outcome<Value>()
    let clock = clock
    return try TimelineThread.drive(number) { () throws(SimulationFault) -> Value in
      let task = Task(executorPreference: self) { outcome.store(await body(clock)) }
      do throws(SimulationFault) {
        return try drive(outcome, until: clock.now.advanced(by: limit), limit: limit)
      } catch {
        task.cancel()
        unwind()
        throw error
      }
    }
  }

  private func drive<Value>(
    _ outcome: Outcome<Value>, until end: LinkInstant, limit: Duration
  ) throws(SimulationFault) -> Value {
    while true {
      let (ran, departure) = runReadyJobs(atMost: Self.jobsPerInstantMaximum)
      if let departure { throw .leftVirtualTime(at: now, by: departure) }
      if let value = outcome.value { return value }
      guard ran < Self.jobsPerInstantMaximum else { throw .spinning(at: now, jobs: ran) }
      switch state.withLock({ $0.jump(noLaterThan: end) }) {
      case .woke(let sleeper): sleeper.resume(returning: true)
      case .nothingPending: throw .deadlocked(at: now)
      case .beyondEnd: throw .timeLimitExceeded(limit: limit)
      }
    }
  }

  /// Runs jobs until no job is ready, `maximum` jobs have run, or a job has left virtual time.
  private func runReadyJobs(
    atMost maximum: Int
  ) -> (count: Int, departure: SimulationFault.Departure?) {
    var ran = 0
    while ran < maximum, let job = state.withLock({ $0.takeReadyJob() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
      ran += 1
      while let sleeper = state.withLock({ $0.takeDueSleeper() }) {
        sleeper.resume(returning: true)
      }
      if let departure = TimelineThread.takeDeparture() { return (ran, departure) }
    }
    return (ran, state.withLock { $0.takeEntry() } ? .otherThread : nil)
  }

  private func unwind() {
    var left = Self.unwindingJobsMaximum
    while left > 0 {
      let (ran, departure) = runReadyJobs(atMost: left)
      guard departure != nil else { return }
      left -= max(ran, 1)
    }
  }

  /// Appends a job to the ready jobs.
  public func enqueue(_ job: consuming ExecutorJob) {
    let unowned = UnownedJob(job)
    let isForeign = !TimelineThread.drives(number)
    state.withLock { state in
      if isForeign { state.noteEntry() }
      state.ready.append(unowned)
    }
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

  /// Suspends until `deadline`; returns `false` if the task is cancelled first. Suspends even if
  /// the deadline has passed, so that other ready jobs can run.
  func sleep(until deadline: LinkInstant) async -> Bool {
    if !TimelineThread.drives(number) { state.withLock { $0.noteEntry() } }
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

/// Passes the value of the body to the thread that drives the timeline.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  var value: Value? { stored.withLock { $0 } }

  func store(_ value: Value) { stored.withLock { $0 = value } }
}
