import OtaflashATT
import OtaflashGATT
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

  @Test func aCancelledSleepEndsImmediately() async {
    // Without the cancellation the sleep would block the test.
    let task = Task { await clock.pause(for: .seconds(1_000_000)) }
    task.cancel()
    #expect(await task.value == false)
  }

  /// A loop that ran late, for example in a process that was stopped, finds a message and an
  /// expired time limit at the same time. The message must take precedence.
  @Test func inputIsProcessedBeforeATimer() async throws {
    let (near, far) = try UnixLink.pair()
    for _ in 0..<200 {
      let deadline = EventLoop.shared.now.advanced(by: .milliseconds(2))
      let received = await withTaskExecutorPreference(EventLoop.shared) { () async -> [UInt8]? in
        await withTaskGroup(of: [UInt8]?.self, returning: [UInt8]?.self) { group in
          group.addTask { await message(on: near, until: deadline) }
          await Task.yield()
          guard EventLoop.shared.now < deadline else {
            await group.waitForAll()
            return nil
          }
          do throws(LinkLoss) { #expect(try far.offer([7])) } catch { Issue.record(error) }
          while EventLoop.shared.now <= deadline {}
          return (await group.next() ?? nil) ?? []
        }
      }
      // On a busy computer the time may pass before the message is sent; the attempt then has no
      // result.
      if let received {
        #expect(received == [7])
        return
      }
    }
  }

  private func message(on link: UnixLink, until deadline: LinkInstant) async -> [UInt8]? {
    do throws(LinkLoss) { return try await link.receive(until: deadline) } catch { return nil }
  }

  @Test func jobsRunOnTheLoopsThread() async {
    let threads = await withTaskExecutorPreference(EventLoop.shared) {
      let before = currentThread()
      await Task.yield()
      return (before, currentThread())
    }
    #expect(threads.0 == threads.1)
    // A detached task does not inherit the preference, so it runs on a thread of the pool.
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
