import OtaflashATT
import Testing

@testable import OtaflashBlueZ

@Suite struct EventLoopTests {
  let clock = EventLoopClock()

  @Test func sleepsEndInTheOrderOfTheirDeadlines() async throws {
    let base = clock.now.advanced(by: .milliseconds(20))
    let order = Record<Int>()
    try await withTaskExecutorPreference(EventLoop.shared) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in (0..<50).reversed() {
          group.addTask {
            try await clock.sleep(
              until: base.advanced(by: .microseconds(index * 200)), tolerance: nil)
            order.append(index)
          }
        }
        try await group.waitForAll()
      }
    }
    #expect(order.elements == Array(0..<50))
    #expect(clock.now >= base.advanced(by: .microseconds(49 * 200)))
  }

  @Test func cancelledSleepEndsAtOnce() async {
    // A sleep that did not end would hold the test for an age.
    let task = Task { await clock.pause(for: .seconds(1_000_000)) }
    task.cancel()
    #expect(await task.value == false)
  }

  @Test func jobsRunOnTheLoopsThread() async {
    let threads = await withTaskExecutorPreference(EventLoop.shared) {
      let before = currentThread()
      await Task.yield()
      return (before, currentThread())
    }
    #expect(threads.0 == threads.1)
    // Where this task goes on is the runtime's choice, and may be the loop.
    let pool = await Task.detached { currentThread() }.value
    #expect(threads.0 != pool)
  }

  @Test func thousandsOfTasksAcrossThreadsAllFinish() async {
    let done = Record<Int>()
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<5000 {
        let isOnLoop = index.isMultiple(of: 2)
        group.addTask(executorPreference: isOnLoop ? EventLoop.shared : nil) {
          await clock.pause(for: .microseconds(index % 97))
          await Task.yield()
          done.append(index)
        }
      }
    }
    #expect(done.elements.count == 5000)
  }
}
