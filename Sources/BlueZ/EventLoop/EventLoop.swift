import COtaflashBluetooth
import Glibc
import OtaflashATT
import OtaflashGATT
import Synchronization

/// The event loop of the process: a thread that runs Swift jobs and timers and waits for file
/// descriptors, so that a link needs no separate thread.
///
/// Run library code under `withTaskExecutorPreference(EventLoop.shared) { … }`: a PDU is then
/// passed from the socket to the waiting task without a thread switch. Code on other executors can
/// also use links, at the cost of one thread switch per wait.
public final class EventLoop: TaskExecutor {
  /// The loop of this process. The loop starts at its first use and never ends. Traps if the
  /// process has no file descriptors left for the loop.
  public static let shared = EventLoop()

  /// The number of jobs after which the loop polls descriptors and timers again, so that
  /// tasks that keep each other busy cannot starve the links.
  private static let jobsPerPoll = 128
  private static let eventsAtFirst = 64

  private struct State {
    var jobs: [UnownedJob] = []
    var isPolling = false
    var timers = TimerQueue<Waiter>()
    var watches = WatchTable()

    /// Returns whether the thread sleeps and no other caller has woken it; the caller must then
    /// wake the thread.
    mutating func takePolling() -> Bool {
      defer { isPolling = false }
      return isPolling
    }
  }

  private let state = Mutex(State())
  private let poller: Poller

  private init() {
    do throws(SystemError) {
      poller = try Poller.open()
      try startThread()
    } catch {
      preconditionFailure("the event loop cannot start: \(error.text)")
    }
  }

  /// Enqueues a job for the loop's thread after the waiting jobs.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustWake = state.withLock { state in
      state.jobs.append(job)
      return state.takePolling()
    }
    if mustWake { poller.wake() }
  }

  /// Time since the kernel's clock started. The clock stops while the computer is suspended, and
  /// continues while only this process is stopped.
  var now: LinkInstant {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return LinkInstant(
      elapsed: Duration(
        secondsComponent: Int64(time.tv_sec),
        attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000))
  }

  /// Sleeps until `deadline`; returns `false` if the task was cancelled first.
  func sleep(until deadline: LinkInstant) async -> Bool {
    let waiter = Waiter()
    let token = insert(waiter, at: deadline)
    let outcome = await waiter.outcome()
    if outcome == .cancelled { removeTimer(token) }
    return outcome != .cancelled
  }

  // MARK: - Descriptors

  /// Adds a descriptor to the loop. The caller must keep the descriptor open until `remove` has
  /// returned.
  func add(_ descriptor: borrowing FileDescriptor) throws(SystemError) -> Watch {
    let raw = descriptor.raw
    let watch = state.withLock { state in state.watches.insert(raw) }
    do throws(SystemError) {
      try poller.add(raw, as: watch)
    } catch {
      state.withLock { state in _ = state.watches.remove(watch) }
      throw error
    }
    return watch
  }

  /// Removes a descriptor from the loop and ends every wait for it with `.closed`.
  func remove(_ watch: Watch) {
    let waiters = state.withLock { state -> [Waiter] in
      guard let entry = state.watches.remove(watch) else { return [] }
      poller.remove(entry.descriptor)
      return entry.readers + entry.writers
    }
    for waiter in waiters { waiter.finish(.closed) }
  }

  /// Waits once until a descriptor is ready. Readiness is a hint: the caller retries its system
  /// call, and waits again if needed.
  func wait(
    for direction: WatchDirection, on watch: Watch, until deadline: LinkInstant?
  ) async -> WaitOutcome {
    let waiter = Waiter()
    let isArmed = state.withLock { state -> Bool in
      guard let armed = state.watches.insert(waiter, direction, on: watch) else { return false }
      poller.arm(armed.descriptor, as: watch, for: armed.interest)
      return true
    }
    guard isArmed else { return .closed }
    let token = deadline.map { insert(waiter, at: $0) }
    let outcome = await waiter.outcome()
    if let token, outcome != .timedOut { removeTimer(token) }
    if outcome == .timedOut || outcome == .cancelled {
      state.withLock { $0.watches.remove(waiter, direction, on: watch) }
    }
    return outcome
  }

  // MARK: - Timers

  private func insert(_ waiter: Waiter, at deadline: LinkInstant) -> TimerQueue<Waiter>.Token {
    let (token, mustWake) = state.withLock { state in
      let token = state.timers.insert(waiter, at: deadline)
      let isFirst = state.timers.nextDeadline() == deadline
      return (token, isFirst && state.takePolling())
    }
    if mustWake { poller.wake() }
    return token
  }

  private func removeTimer(_ token: TimerQueue<Waiter>.Token) {
    state.withLock { state in _ = state.timers.cancel(token) }
  }

  // MARK: - The thread

  private func startThread() throws(SystemError) {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { preconditionFailure("the loop's thread has no loop") }
        otaflash_name_thread("otaflash-loop")
        Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
      }, context.toOpaque())
    guard result == 0 else {
      context.release()
      throw SystemError(result)
    }
    pthread_detach(thread)
  }

  private func run() -> Never {
    var events = [epoll_event](repeating: epoll_event(), count: Self.eventsAtFirst)
    // Each iteration is a separate function: in optimized code, objects that are created in the
    // body of an endless loop are not always destroyed.
    while true { turn(&events) }
  }

  /// Runs jobs, waits for events, and fires the timers that are due. Input is processed before a
  /// due timer ends the wait for this input: if a process was stopped for longer than its time
  /// limits, both the input and the timer are due when the process continues.
  private func turn(_ events: inout [epoll_event]) {
    runJobs()
    let horizon = now
    // The queues are read and `isPolling` is set under one lock, so the caller that adds a job or
    // an earlier timer afterwards detects `isPolling` and wakes the loop.
    let (mayWait, deadline) = state.withLock { state in
      let deadline = state.timers.nextDeadline()
      let isDue = deadline.map { $0 <= horizon } ?? false
      state.isPolling = state.jobs.isEmpty && !isDue
      return (state.isPolling, deadline)
    }
    let count = poller.poll(&events, until: deadline, isWaiting: mayWait)
    state.withLock { $0.isPolling = false }
    // The wait was interrupted, for example because the process was stopped: no event was read.
    guard let count else { return }
    for event in events[..<count] { dispatch(event) }
    guard count < events.count else {
      // More events may be pending.
      events += events
      return
    }
    runJobs()
    fireTimers(dueAt: horizon)
  }

  private func runJobs() {
    var ran = 0
    while ran < Self.jobsPerPoll {
      let batch = state.withLock { state in
        var batch: [UnownedJob] = []
        swap(&batch, &state.jobs)
        return batch
      }
      guard !batch.isEmpty else { return }
      for job in batch { job.runSynchronously(on: asUnownedTaskExecutor()) }
      ran += batch.count
    }
  }

  private func fireTimers(dueAt horizon: LinkInstant) {
    while let waiter = state.withLock({ $0.timers.popDue(at: horizon) }) {
      waiter.finish(.timedOut)
    }
  }

  private func dispatch(_ event: epoll_event) {
    guard let (watch, readiness) = poller.interpret(event) else { return }
    let waiters = state.withLock { state -> [Waiter] in
      guard let fired = state.watches.fire(watch, readiness) else { return [] }
      if !fired.interest.isEmpty { poller.arm(fired.descriptor, as: watch, for: fired.interest) }
      return fired.waiters
    }
    for waiter in waiters { waiter.finish(.ready(hungUp: readiness.hungUp)) }
  }
}
