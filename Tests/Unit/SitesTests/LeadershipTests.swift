#if Sites
import OtaflashGATT
import OtaflashNATS
import OtaflashNATSServer
import OtaflashSimulation
import OtaflashSites
import Synchronization
import Testing

/// The lease of the coordinator, in virtual time.
@Suite struct LeadershipTests {
  static func name(_ host: String) -> CoordinatorName {
    CoordinatorName(id: "id of \(host)", host: host)
  }

  /// Runs a body in virtual time.
  static func inVirtualTime<Value: Sendable>(
    _ body: @escaping @Sendable (VirtualClock) async throws -> Value
  ) throws -> Value {
    try VirtualTimeline().run { clock -> Result<Value, any Error> in
      do { return .success(try await body(clock)) } catch { return .failure(error) }
    }.get()
  }

  @Test func theFirstStartsImmediately() throws {
    let waited = try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      let start = clock.now
      let leader = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      #expect(leader.isCertain)
      return clock.now.elapsed - start.elapsed
    }
    #expect(waited == .zero)
  }

  @Test func aSecondIsRefusedWhileTheFirstRenews() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      let first = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: Never.self) { try await first.keep() }
        }
        for delay in [0, 3, 30] {
          _ = await clock.pause(for: .seconds(delay))
          let start = clock.now
          await #expect(throws: LeadershipFault.running(host: "a")) {
            _ = try await Leadership.acquire(in: entries, as: Self.name("b"), clock: clock)
          }
          #expect(clock.now.elapsed - start.elapsed <= .seconds(6))
        }
        #expect(first.isCertain)
        group.cancelAll()
      }
    }
  }

  @Test func aSecondTakesOverFromASilentFirst() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      let first = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      _ = await clock.pause(for: .seconds(3))
      let start = clock.now
      let second = try await Leadership.acquire(in: entries, as: Self.name("b"), clock: clock)
      #expect(clock.now.elapsed - start.elapsed == Leadership.silence)
      // The first coordinator has not renewed its entry for more than 10 s.
      #expect(!first.isCertain && second.isCertain)
      await #expect(throws: LeadershipFault.takenOver(host: "b")) { try await first.keep() }
      #expect("\(LeadershipFault.takenOver(host: "b"))".contains("coordinator on b"))
    }
  }

  @Test func aReleaseEndsTheWait() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      let first = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      try await first.release()
      let start = clock.now
      let second = try await Leadership.acquire(in: entries, as: Self.name("b"), clock: clock)
      #expect(clock.now == start)
      // A release of a lost right removes nothing.
      try await first.release()
      #expect(try await entries.all().count == 1)
      try await second.release()
    }
  }

  /// Of several coordinators that wait for the end of the same silence, exactly one starts.
  @Test func ofSeveralOneTakesOver() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      _ = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      let started = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<5 {
          group.addTask {
            do throws(LeadershipFault) {
              _ = try await Leadership.acquire(
                in: entries, as: Self.name("b\(number)"), clock: clock)
              return true
            } catch {
              guard case .running = error else { Issue.record(error); return false }
              return false
            }
          }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(started == 1)
    }
  }

  /// Lost requests, and renewals that were stored although their replies were lost, do not count as
  /// another coordinator.
  @Test(arguments: [MemoryEntries.Loss.request, .reply])
  func lostCallsAreNoTakeover(_ loss: MemoryEntries.Loss) throws {
    try Self.inVirtualTime { clock in
      let isOn = Mutex(false)
      let entries = MemoryEntries { call, _ in
        call == .write && isOn.withLock { $0 } ? loss : .none
      }
      let first = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: Never.self) { try await first.keep() }
        }
        _ = await clock.pause(for: .seconds(12))
        isOn.withLock { $0 = true }
        _ = await clock.pause(for: .seconds(20))
        // No reply for more than 10 s: another coordinator could have taken over.
        #expect(!first.isCertain)
        isOn.withLock { $0 = false }
        _ = await clock.pause(for: .seconds(6))
        #expect(first.isCertain)
        group.cancelAll()
      }
    }
  }

  @Test func aRemovedEntryEndsTheRight() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      let first = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      for entry in try await entries.all() { entries.set(entry.key, nil) }
      await #expect(throws: LeadershipFault.takenOver(host: nil)) { try await first.keep() }
    }
  }

  /// An entry that another version or a gateway wrote counts as the entry of another coordinator.
  @Test func anUnknownEntryIsWaitedFor() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      entries.set("coordinator", Array("?".utf8))
      let start = clock.now
      _ = try await Leadership.acquire(in: entries, as: Self.name("b"), clock: clock)
      #expect(clock.now.elapsed - start.elapsed == Leadership.silence)
    }
  }

  @Test func aCancelledWaitEnds() throws {
    try Self.inVirtualTime { clock in
      let entries = MemoryEntries()
      _ = try await Leadership.acquire(in: entries, as: Self.name("a"), clock: clock)
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: LeadershipFault.cancelled) {
            _ = try await Leadership.acquire(in: entries, as: Self.name("b"), clock: clock)
          }
        }
        _ = await clock.pause(for: .seconds(4))
        group.cancelAll()
      }
      #expect(clock.now.elapsed < .seconds(5))
    }
  }

  @Suite(.enabled(if: NATSServer.areInstalled, "\(NATSServer.note)")) struct Servers {
    @Test(arguments: NATSServer.Version.allCases)
    func compareAndSetDecides(_ version: NATSServer.Version) async throws {
      let server = try await NATSServer(version)
      let stream = try await server.jetStream()
      try await SiteStreams.create(on: stream)
      let entries = try KeyValueBucket(SiteLayout.leader, of: stream)
      let clock = VirtualTimeline().clock
      let first = try await Leadership.acquire(
        in: entries, as: LeadershipTests.name("a"), clock: clock)
      try await first.release()
      let second = try await Leadership.acquire(
        in: entries, as: LeadershipTests.name("b"), clock: clock)
      let entry = try #require(try await entries.all().first)
      #expect(entry.key == "coordinator")
      try await second.release()
      #expect(try await entries.all() == [])
    }
  }
}
#endif
