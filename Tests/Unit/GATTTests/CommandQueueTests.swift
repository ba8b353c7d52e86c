import OtaflashATT
import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

/// The executed steps, in order.
private final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  func note(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
}

enum TestFault: Error, Equatable {
  case failed(Int)
  case tooSlow
}

@Suite struct CommandQueueTests {
  @Test func commandsRunOneAtATimeFirstInFirstOut() throws {
    let log = Log()
    try VirtualTimeline().run { clock in
      let queue = CommandQueue()
      await withTaskGroup(of: Void.self) { group in
        for number in 1...4 {
          group.addTask {
            await clock.pause(for: .milliseconds(number))
            let command = Command<Log, Void, Never>("\(number)") { log in
              log.note("begin \(number)")
              await clock.pause(for: .seconds(1))
              log.note("end \(number)")
            }
            do { try await queue.perform(command, with: log) } catch { log.note("\(error)") }
          }
        }
      }
    }
    #expect(log.all == (1...4).flatMap { ["begin \($0)", "end \($0)"] })
  }

  @Test func aQueuedCommandCanBeCancelledAndNeverRuns() throws {
    let log = Log()
    try VirtualTimeline().run { clock in
      let queue = CommandQueue()
      let long = Command<Log, Void, Never>("long") { log in
        await clock.pause(for: .seconds(5))
        log.note("long done")
      }
      let queued = Command<Log, Void, Never>("queued") { log in log.note("must not run") }
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          do { try await queue.perform(long, with: log) } catch { log.note("\(error)") }
        }
        group.addTask {
          await clock.pause(for: .seconds(1))
          do throws(QueueFault<Never>) {
            try await withDeadline(
              clock.now.advanced(by: .seconds(1)), on: clock, orThrow: QueueFault<Never>.closed
            ) { () async throws(QueueFault<Never>) in
              try await queue.perform(queued, with: log)
            }
          } catch { log.note("cancelled") }
        }
      }
    }
    #expect(log.all == ["cancelled", "long done"])
  }

  @Test func aRunningCommandCanBeCancelledAndTheNextOneRuns() throws {
    let log = Log()
    try VirtualTimeline().run { clock in
      let queue = CommandQueue()
      let endless = Command<Log, Void, TestFault>("endless") { (log) async throws(TestFault) in
        await clock.pause(for: .seconds(1_000))
        log.note(Task.isCancelled ? "stopped" : "not cancelled")
        throw .failed(1)
      }.timeLimit(.seconds(2), on: clock, orThrow: .tooSlow)
      do throws(QueueFault<TestFault>) {
        try await queue.perform(endless, with: log)
      } catch { log.note("\(error)") }
      let next = Command<Log, Void, Never>("next") { log in log.note("next") }
      do { try await queue.perform(next, with: log) } catch { log.note("\(error)") }
    }
    #expect(log.all == ["stopped", "tooSlow", "next"])
  }

  @Test func retryFollowsTheStrategyAndStopsAtItsLimit() throws {
    let log = Log()
    let took = try VirtualTimeline().run { clock in
      let attempts = Mutex(0)
      let command = Command<Void, Void, TestFault>("flaky") { (_) async throws(TestFault) in
        let attempt = attempts.withLock { value in
          value += 1
          return value
        }
        log.note("attempt \(attempt)")
        throw .failed(attempt)
      }.retrying(
        .exponential(base: .seconds(1), ceiling: .seconds(3), attempts: 3, jitter: 0), on: clock,
        random: { 0 }, when: { _ in true })
      do throws(TestFault) { try await command.run(with: ()) } catch { log.note("\(error)") }
      return clock.now.elapsed
    }
    #expect(log.all == (1...4).map { "attempt \($0)" } + ["failed(4)"])
    #expect(took == .seconds(1 + 2 + 3))
  }

  @Test func preparationsRunBeforeTheCommandInTheSameTurn() throws {
    let log = Log()
    try VirtualTimeline().run { clock in
      let queue = CommandQueue()
      let connect = Command<Log, Void, TestFault>("connect") { log in log.note("connect") }
      let authorize = Command<Log, Void, TestFault>("authorize") { log in log.note("authorize") }
      let flash = Command<Log, Void, TestFault>("flash") { log in log.note("flash") }
        .preceded(by: authorize).preceded(by: connect)
      do { try await queue.perform(flash, with: log) } catch { log.note("\(error)") }
    }
    #expect(log.all == ["connect", "authorize", "flash"])
  }

  private enum OtherFault: Error, Equatable { case other }

  private static func run<Output, Failure: Error>(
    _ log: Log, _ command: @escaping @Sendable (VirtualClock) -> Command<Log, Output, Failure>
  ) throws -> Failure? {
    try VirtualTimeline().run { clock in
      do throws(Failure) {
        _ = try await command(clock).run(with: log)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test func commandsThatFailInDifferentWaysCombine() throws {
    let log = Log()
    let flash = Command<Log, Void, TestFault>("flash") { log in log.note("flash") }
    let failing = Command<Log, Void, TestFault>("failing") {
      (_) async throws(TestFault) in throw .failed(1)
    }
    let authorize = Command<Log, Void, OtherFault>("authorize") {
      (_) async throws(OtherFault) in throw .other
    }
    let disconnect = Command<Log, Void, Never>("disconnect") { log in log.note("disconnect") }
    func concluded<Other: Error>(
      _ command: Command<Log, Void, TestFault>, _ conclusion: Command<Log, Void, Other>
    ) throws -> MultipleFaults<TestFault, Other>? {
      try Self.run(log) { clock in
        command.followed(by: conclusion, within: .seconds(1), on: clock)
      }
    }
    #expect(try Self.run(log) { _ in flash.preceded(by: authorize) } == .other(.other))
    #expect(try concluded(failing, authorize) == .main(.failed(1)))
    #expect(try concluded(flash, authorize) == .other(.other))
    #expect(try concluded(failing, disconnect) == .main(.failed(1)))
    #expect(try Self.run(log) { _ in failing.mapFailure { _ in OtherFault.other } } == .other)
    #expect(log.all == ["flash", "disconnect"])
  }

  @Test func aQueueRespectsItsCapacity() throws {
    let fault = try VirtualTimeline().run { clock -> QueueFault<Never>? in
      let queue = CommandQueue(waitingMaximum: 0)
      return await withTaskGroup(of: Void.self) { group in
        let long = Command<Void, Void, Never>("long") { _ in await clock.pause(for: .seconds(5)) }
        group.addTask { _ = try? await queue.perform(long, with: ()) }
        await clock.pause(for: .seconds(1))
        do throws(QueueFault<Never>) {
          try await queue.perform(long, with: ())
          return nil
        } catch {
          return error
        }
      }
    }
    #expect(fault == .full(limit: 0))
  }
}
