import OtaflashATT
import OtaflashGATT
import Testing

@testable import OtaflashSimulation

@Suite struct WakeSignalTests {
  @Test func aSignalWithoutAWaiterIsKeptOnce() throws {
    let order = try VirtualTimeline().run { clock in
      let signal = WakeSignal()
      signal.signal()
      signal.signal()
      await signal.wait()
      let first = clock.now.elapsed
      await signal.wait(until: .start.advanced(by: .seconds(3)), on: clock)
      return [first, clock.now.elapsed]
    }
    #expect(order == [.zero, .seconds(3)])
  }

  @Test func aSignalWakesTheWaiter() throws {
    let woke = try VirtualTimeline().run { clock in
      let signal = WakeSignal()
      return await withTaskGroup(of: Duration.self) { group in
        group.addTask {
          await signal.wait(until: .start.advanced(by: .seconds(100)), on: clock)
          return clock.now.elapsed
        }
        await clock.pause(for: .seconds(2))
        signal.signal()
        return await group.next()
      }
    }
    #expect(woke == .seconds(2))
  }

  @Test func aCancelledTaskDoesNotWait() throws {
    try VirtualTimeline().run { clock in
      let signal = WakeSignal()
      await withTaskGroup { group in
        group.addTask { await signal.wait() }
        await clock.pause(for: .seconds(1))
        group.cancelAll()
        group.addTask { await signal.wait() }
      }
    }
  }
}
