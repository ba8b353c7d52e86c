import OtaflashGATT
import OtaflashSimulation
import Synchronization
import Testing

private let handle = CountingDevice.handle

/// Tests of conclusions of commands (`Command.followed`), and of commands in decorated queues.
@Suite struct ConclusionTests {
  /// The device must not stay unlocked if the caller stops waiting.
  @Test(arguments: ["cancel", "limit", "queue limit"])
  func aConclusionRunsToItsEndWhenItsCommandIsCancelled(_ stop: String) throws {
    let device = CountingDevice()
    let log = Mutex<[String]>([])
    let lock = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "lock") {
      (client) async throws(GATTFault) in
      do throws(GATTFault) { try await client.write([0], handle: handle) } catch {
        log.withLock { $0.append("not locked: \(error)") }
        throw error
      }
      log.withLock { $0.append("locked") }
    }
    try near(device) { clock in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let work = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "work") {
          (client) async throws(GATTFault) in
          try await client.write([1], handle: handle)
          log.withLock { $0.append("unlocked") }
          await clock.pause(for: .seconds(60))
          throw .cancelled
        }
        switch stop {
        case "cancel":
          let enqueued = peripheral.followed(by: lock).enqueue(work)
          await clock.pause(for: .seconds(1))
          enqueued.cancel()
          _ = await text { try await enqueued.value }
        case "limit":
          let limited = work.followed(by: lock)
            .timeLimit(.seconds(1), orThrow: .gatt(.timedOut(after: .seconds(1))))
          _ = await text { try await peripheral.perform(limited) }
        default:
          let limited = peripheral.followed(by: lock).timeLimit(.seconds(1), on: clock)
          _ = await text { try await limited.perform(work) }
        }
      }
    }
    #expect(log.withLock { $0 } == ["unlocked", "locked"])
  }

  @Test func aConclusionThatIsNotAnsweredEndsAtItsLimit() throws {
    let device = CountingDevice(silent: [0])
    let (seen, took) = try near(device) { clock -> (String, Duration) in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let lock = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "lock") {
          (client) async throws(GATTFault) in try await client.write([0], handle: handle)
        }
        let work = Command<PeripheralTurn, Void, PeripheralFault>(onConnection: "work") {
          (_) async throws(GATTFault) in await clock.pause(for: .seconds(60))
        }
        let limited = work.followed(by: lock, within: .seconds(3))
          .timeLimit(.seconds(1), orThrow: .gatt(.timedOut(after: .seconds(1))))
        return (await text { try await peripheral.perform(limited) }, clock.now.elapsed)
      }
    }
    #expect(seen.contains("took longer than 1.0 s"), "\(seen)")
    #expect(took == .seconds(4))
  }

  // MARK: Enqueued commands of a decorated queue

  @Test func aDecoratedQueueKeepsTheOrderOfEnqueuedCommands() throws {
    let device = CountingDevice()
    let log = Mutex<[String]>([])
    let note = { @Sendable (name: String) in
      Command<PeripheralTurn, Void, Never>(name) { _ in log.withLock { $0.append(name) } }
    }
    let cancelled = try near(device) { clock -> String in
      await withPeripheral(device.dialer, clock: clock) { peripheral in
        let decorated = peripheral.preceded(by: note("before")).followed(by: note("after"))
        let first = decorated.enqueue(note("first"))
        let second = decorated.enqueue(note("second"))
        second.cancel()
        let third = decorated.enqueue(note("third"))
        _ = await text { try await first.value }
        _ = await text { try await third.value }
        return await text { try await second.value }
      }
    }
    #expect(log.withLock { $0 } == ["before", "first", "after", "before", "third", "after"])
    #expect(cancelled == "\(QueueFault<Never>.cancelledInQueue)")
  }
}
