import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

@Suite struct VirtualTimelineTests {
  @Test func timeJumpsFromTimerToTimer() throws {
    let elapsed = try VirtualTimeline().run { clock in
      await clock.pause(for: .seconds(3600))
      await clock.pause(for: .microseconds(1))
      return clock.now.elapsed
    }
    #expect(elapsed == .seconds(3600) + .microseconds(1))
  }

  @Test func childTasksShareTheTimeline() throws {
    let order = try VirtualTimeline().run { clock in
      await withTaskGroup(of: Int.self) { group in
        for delay in [30, 10, 20] {
          group.addTask {
            await clock.pause(for: .milliseconds(delay))
            return delay
          }
        }
        var order: [Int] = []
        for await delay in group { order.append(delay) }
        return order
      }
    }
    #expect(order == [10, 20, 30])
  }

  // MARK: Leaving virtual time

  private actor Model {
    private(set) var value = 0
    func load(_ clock: VirtualClock) async {
      await clock.pause(for: .seconds(1))
      value = 72
    }
  }

  @MainActor private final class Screen {
    private(set) var value = 0
    func load(_ clock: VirtualClock) async {
      await clock.pause(for: .seconds(1))
      value = 72
    }
  }

  /// An unstructured task runs on other threads, so its progress before the next jump of the clock
  /// is random.
  @Test(arguments: 0..<20)
  func anUnstructuredTaskIsReported(_ repetition: Int) {
    let moment = LinkInstant.start.advanced(by: .seconds(5))
    #expect(throws: SimulationFault.leftVirtualTime(at: moment, by: .unstructuredTask)) {
      try VirtualTimeline().run { clock in
        let model = Model()
        await clock.pause(for: .seconds(5))
        let task =
          repetition.isMultiple(of: 2)
          ? Task { await model.load(clock) } : Task.detached { await model.load(clock) }
        await task.value
      }
    }
  }

  /// A change of the executor is detected where the change happens; the optimizer may move the
  /// change to a place after the pause.
  @Test func theMainActorIsReported() throws {
    let faults = (0..<20).map { _ in
      #expect(throws: SimulationFault.self) {
        try VirtualTimeline().run { clock in
          await clock.pause(for: .seconds(5))
          let screen = Screen()
          await screen.load(clock)
        }
      }
    }
    guard case .leftVirtualTime(let moment, .mainActor)? = faults[0] else {
      Issue.record("\(String(describing: faults[0]))")
      return
    }
    #expect([.seconds(5), .seconds(6)].contains(moment.elapsed))
    #expect(Set(faults.map { "\(String(describing: $0))" }).count == 1)
  }

  @Test func aTaskOnTheTimelineAndAnActorStayInVirtualTime() throws {
    for _ in 0..<20 {
      let (value, elapsed) = try VirtualTimeline().run { clock in
        let model = Model()
        let task = Task(executorPreference: clock.executor) { await model.load(clock) }
        await task.value
        return (await model.value, clock.now.elapsed)
      }
      #expect(value == 72 && elapsed == .seconds(1))
    }
  }

  /// A job of one timeline may drive another timeline.
  @Test func aTimelineInsideAnotherIsIndependent() throws {
    let elapsed = try VirtualTimeline().run { outer in
      await outer.pause(for: .seconds(1))
      let inner = Result { () throws -> Duration in
        try VirtualTimeline().run { inner in
          await inner.pause(for: .seconds(7))
          return inner.now.elapsed
        }
      }
      await outer.pause(for: .seconds(1))
      return (inner, outer.now.elapsed)
    }
    #expect(try elapsed.0.get() == .seconds(7))
    #expect(elapsed.1 == .seconds(2))
  }

  @Test func anEndlessWaitIsADeadlock() {
    #expect(throws: SimulationFault.deadlocked(at: .start.advanced(by: .seconds(5)))) {
      try VirtualTimeline().run { clock in
        await clock.pause(for: .seconds(5))
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
    }
  }

  @Test func anEndlessPollReachesTheLimit() {
    #expect(throws: SimulationFault.timeLimitExceeded(limit: .seconds(60))) {
      try VirtualTimeline().run(limit: .seconds(60)) { clock in
        while !Task.isCancelled { await clock.pause(for: .seconds(1)) }
      }
    }
  }

  @Test func aLoopWithoutAnAdvanceOfTimeIsSpinning() {
    #expect(
      throws: SimulationFault.spinning(
        at: .start, jobs: VirtualTimeline.jobsPerInstantMaximum)
    ) {
      try VirtualTimeline().run { clock in
        while !Task.isCancelled { await clock.pause(for: .zero) }
      }
    }
  }

  @Test func cancellationEndsASleepImmediately() throws {
    let (finished, elapsed) = try VirtualTimeline().run { clock in
      let finished = await withTaskGroup(of: Bool.self) { group in
        group.addTask { await clock.pause(for: .seconds(1000)) }
        await clock.pause(for: .seconds(1))
        group.cancelAll()
        return await group.next()
      }
      return (finished, clock.now.elapsed)
    }
    #expect(finished == false)
    #expect(elapsed == .seconds(1))
  }

  @Test func aSleepInACancelledTaskDoesNotStart() throws {
    let finished = try VirtualTimeline().run { clock in
      await withTaskGroup(of: Bool.self) { group in
        group.cancelAll()
        group.addTask { await clock.pause(for: .seconds(1000)) }
        return await group.next()
      }
    }
    #expect(finished == false)
  }

  @Test func twoRunsOfOneSeedAreTheSame() throws {
    #expect(try trace(seed: 7) == trace(seed: 7))
    #expect(try trace(seed: 7) != trace(seed: 8))
  }

  /// Returns the order of wake-ups of 20 tasks with 100 seeded sleeps each.
  private func trace(seed: UInt64) throws -> [String] {
    let events = EventTrace()
    try VirtualTimeline().run { clock in
      await withTaskGroup { group in
        for worker in 0..<20 {
          group.addTask {
            var random = SeededRandom(seed: seed).forked(for: UInt64(worker))
            for _ in 0..<100 {
              await clock.pause(for: .milliseconds(Int.random(in: 0...5, using: &random)))
              events.append("\(worker)@\(clock.now.elapsed)")
            }
          }
        }
      }
    }
    return events.all
  }

  @Test func fiftyThousandSleepsEndAtTheirTime() throws {
    let elapsed = try VirtualTimeline().run { clock in
      for _ in 0..<50_000 { await clock.pause(for: .milliseconds(15)) }
      return clock.now.elapsed
    }
    #expect(elapsed == .seconds(750))
  }
}

final class EventTrace: Sendable {
  private let events = Mutex<[String]>([])

  var all: [String] { events.withLock { $0 } }

  func append(_ event: String) { events.withLock { $0.append(event) } }
}
