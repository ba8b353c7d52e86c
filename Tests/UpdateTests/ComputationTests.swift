import Dispatch
import Testing

@testable import OtaflashUpdate

/// Where patches are made: a task's own executor, which links wait on, or threads beside it.
@Suite struct ComputationTests {
  /// Runs all jobs on one queue, which knows itself.
  private final class Queue: TaskExecutor {
    private static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "links")

    init() { queue.setSpecific(key: Self.key, value: true) }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    static var isHere: Bool { DispatchQueue.getSpecific(key: key) ?? false }
  }

  @Test func inlineStaysWhereTheTaskIsAndThreadsDoNot() async {
    let found = await withTaskExecutorPreference(Queue()) {
      let inline = await Computation.inline.run { Queue.isHere }
      let threads = await Computation.threads(atMost: 2).run { Queue.isHere }
      return [inline, threads, Queue.isHere]
    }
    #expect(found == [true, false, true])
    #expect(!Computation.inline.isElsewhere && Computation.threads(atMost: 1).isElsewhere)
  }

  /// The second waits for the first; cancelled, it never begins.
  @Test func noMoreThanSoManyAtATime() async {
    let computation = Computation.threads(atMost: 1)
    let (began, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let first = Task {
      await computation.run {
        began.signal()
        end.wait()
        return 1
      }
    }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        began.wait()
        continuation.resume()
      }
    }
    let second = Task { await computation.run { 2 } }
    second.cancel()
    #expect(await second.value == nil)
    end.signal()
    #expect(await first.value == 1)
    #expect(await computation.run { 3 } == 3)
  }
}
