#if Sites
import OtaflashATT
import OtaflashFleet
import OtaflashGATT
import OtaflashNATS
import OtaflashSimulation
import Synchronization
import Testing

@testable import OtaflashSites

/// The waits of a worker for the coordinator's record, in virtual time.
@Suite struct RecordWaitsTests {
  private static let run = "r"

  private static func set(_ revision: UInt64, isOpen: Bool = true, in entries: MemoryEntries) {
    var record = RunRecord()
    (record.recorded, record.isOpen) = (revision, isOpen)
    entries.set(RunRecords.key(of: run), record.bytes)
  }

  /// Waits for a revision; returns the fault, and the time at which the wait ended.
  private static func wait(
    _ waits: RecordWaits, upTo revision: UInt64, _ clock: VirtualClock
  ) async -> (fault: ExchangeFault?, end: Duration) {
    do throws(ExchangeFault) {
      try await waits.wait(for: run, upTo: revision)
      return (nil, clock.now.elapsed)
    } catch {
      return (error, clock.now.elapsed)
    }
  }

  @Test func manyWaitsShareTheReads() throws {
    try LeadershipTests.inVirtualTime { clock in
      let entries = MemoryEntries()
      Self.set(0, in: entries)
      let waits = RecordWaits(entries, clock: clock)
      await withTaskGroup(of: (revision: UInt64, end: Duration).self) { group in
        for revision: UInt64 in 1...100 {
          group.addTask { (revision, await Self.wait(waits, upTo: revision, clock).end) }
        }
        for step: UInt64 in 1...4 {
          _ = await clock.pause(for: .seconds(1))
          Self.set(step * 25, in: entries)
        }
        for await (revision, end) in group {
          let written = Duration.seconds(Int(revision + 24) / 25)
          #expect(end >= written && end <= written + .milliseconds(500), "\(revision): \(end)")
        }
      }
      #expect(entries.reads.count < 60, "\(entries.reads.count)")
    }
  }

  @Test func anotherWaitReadsAfterACancellation() throws {
    try LeadershipTests.inVirtualTime { clock in
      let entries = MemoryEntries()
      Self.set(0, in: entries)
      let waits = RecordWaits(entries, clock: clock)
      await withTaskGroup(of: ExchangeFault?.self) { others in
        others.addTask {
          _ = await clock.pause(for: .milliseconds(10))
          return await Self.wait(waits, upTo: 5, clock).fault
        }
        await withTaskGroup(of: ExchangeFault?.self) { cancelled in
          for _ in 0..<2 { cancelled.addTask { await Self.wait(waits, upTo: 5, clock).fault } }
          _ = await clock.pause(for: .seconds(1))
          cancelled.cancelAll()
          for await fault in cancelled { #expect(fault == .notRecorded) }
        }
        Self.set(5, in: entries)
        for await fault in others { #expect(fault == nil) }
      }
      // The next wait reads again.
      #expect(await Self.wait(waits, upTo: 5, clock).fault == nil)
    }
  }

  @Test func aClosedRunEndsAllWaits() throws {
    try LeadershipTests.inVirtualTime { clock in
      let entries = MemoryEntries()
      Self.set(0, in: entries)
      let waits = RecordWaits(entries, clock: clock)
      await withTaskGroup(of: (UInt64, ExchangeFault?).self) { group in
        for revision: UInt64 in 1...4 {
          group.addTask { (revision, await Self.wait(waits, upTo: revision, clock).fault) }
        }
        _ = await clock.pause(for: .seconds(1))
        Self.set(2, isOpen: false, in: entries)
        for await (revision, fault) in group {
          #expect(fault == (revision <= 2 ? nil : .notRecorded), "\(revision)")
        }
      }
    }
  }

  /// Only the wait that reads fails with a lost reply; the next wait reads again.
  @Test func aLostReplyEndsOneWait() throws {
    try LeadershipTests.inVirtualTime { clock in
      let reads = Atomic<Int>(0)
      let entries = MemoryEntries { call, _ in
        call == .read && reads.add(1, ordering: .relaxed).newValue == 3 ? .reply : .none
      }
      Self.set(0, in: entries)
      let waits = RecordWaits(entries, clock: clock)
      await withTaskGroup(of: ExchangeFault?.self) { group in
        for _ in 0..<3 { group.addTask { await Self.wait(waits, upTo: 1, clock).fault } }
        _ = await clock.pause(for: .seconds(1))
        Self.set(1, in: entries)
        let faults = await group.reduce(into: [ExchangeFault?]()) { $0.append($1) }
        #expect(faults.count { $0 == nil } == 2, "\(faults)")
      }
    }
  }
}
#endif
