import OtaflashATT
import OtaflashGATT
import Synchronization

/// Runs asynchronous code in virtual time on the calling thread: all jobs that are ready, in the
/// order in which they became ready, then a jump to the next timer.
///
/// A run depends on nothing but its inputs. Child tasks inherit the executor. Unstructured tasks do
/// not, and neither does code on the main actor: a run that uses one of them ends with
/// `SimulationFault.leftVirtualTime`. Create such a task with this executor instead
/// (`Task(executorPreference: clock.executor)`).
public final class VirtualTimeline: TaskExecutor, Sendable {
  /// Jobs that may run at one instant before the run is called spinning.
  package static let jobsPerInstantMaximum = 500_000
  /// Jobs that a failed run may still execute while its cancelled tasks unwind.
  static let unwindingJobsMaximum = 500_000

  private static let count = Atomic<UInt64>(0)

  /// No two timelines of a process have the same; 1 or more.
  private let number = count.wrappingAdd(1, ordering: .relaxed).newValue
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

  /// Runs jobs until none is ready, `maximum` have run, or one has left virtual time.
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

  /// Puts a job behind those that are ready at this moment.
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

  /// Suspends until `deadline`; `false` when the task was cancelled first. Suspends even when the
  /// deadline has passed, so that other ready jobs get their turn.
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

/// Where the body leaves its value for the thread that drives it.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Value?>(nil)

  var value: Value? { stored.withLock { $0 } }

  func store(_ value: Value) { stored.withLock { $0 = value } }
}
