#if Sites
import COtaflashNATS
import Glibc
import Synchronization

/// A thread that runs the jobs of one actor, so that a blocking call of libnats never blocks
/// Swift's pool of threads.
final class Lane: SerialExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    /// Whether the thread sleeps and no caller has woken it yet.
    var isSleeping = false
    var isStopped = false
  }
  private let state = Mutex(State())
  private let wakeUp: Int32

  /// Starts the thread; returns `nil` if the process has no descriptor or thread left.
  init?() {
    wakeUp = eventfd(0, Int32(EFD_CLOEXEC))
    guard wakeUp >= 0 else { return nil }
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { preconditionFailure("the thread has no lane") }
        otaflash_nats_name_thread("otaflash-nats")
        Unmanaged<Lane>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, context.toOpaque())
    guard result == 0 else {
      context.release()
      return nil
    }
    pthread_detach(thread)
  }

  deinit { if wakeUp >= 0 { _ = close(wakeUp) } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    change { $0.jobs.append(job) }
  }

  /// Ends the thread after the enqueued jobs. Only the deinitializer of the actor may call this
  /// function, because later jobs would never run.
  func stop() { change { $0.isStopped = true } }

  private func change(_ body: (inout sending State) -> Void) {
    let mustWake = state.withLock { state in
      body(&state)
      defer { state.isSleeping = false }
      return state.isSleeping
    }
    // The counter cannot overflow: the thread resets it each time it wakes up.
    if mustWake { _ = eventfd_write(wakeUp, 1) }
  }

  private func run() {
    while turn() {}
  }

  /// Runs the enqueued jobs, or sleeps until a job is enqueued; returns `false` if the lane is
  /// stopped.
  private func turn() -> Bool {
    let (jobs, isStopped) = state.withLock { state in
      let jobs = state.jobs
      state.jobs = []
      state.isSleeping = jobs.isEmpty && !state.isStopped
      return (jobs, state.isStopped)
    }
    for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    guard jobs.isEmpty else { return true }
    guard !isStopped else { return false }
    var count: eventfd_t = 0
    // A signal may interrupt the read; the next call then sleeps again.
    _ = eventfd_read(wakeUp, &count)
    return true
  }
}
#endif
