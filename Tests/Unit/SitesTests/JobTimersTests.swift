#if Sites
import OtaflashFleet
import Testing

@testable import OtaflashSites

/// Tests of the coordinator's timers of open jobs, of the facts that it records, and of the entries
/// that it ignores.
@Suite struct JobTimersTests {
  private static let worker = FleetWorker(name: "a", site: "s")
  private static let lease = Duration.seconds(45)

  private static func job(attempt: Int = 1, search: Duration = .zero) -> UpdateJob {
    var order = WorkOrder()
    order.search = search
    return UpdateJob(
      id: UpdateJob.ID(run: "r", device: "d", attempt: attempt), site: "s", image: "i",
      order: order)
  }

  private static func claimed(search: Duration = .zero) throws -> (DeviceEntry, JobClaim) {
    var entry = DeviceEntry()
    try entry.publish(job(search: search), recorded: 0)
    let claim = entry.claim(for: worker, lease: lease)
    return (entry, try #require(claim))
  }

  /// The changes that are due at a time, without their keys.
  private static func changes(_ timers: JobTimers, _ now: Duration) -> [DueChange] {
    timers.due(now: now).map(\.3)
  }

  @Test func aClaimIsFreedOnlyAfterACompleteLeaseWithoutARevision() throws {
    var timers = JobTimers()
    var (entry, claim) = try Self.claimed()
    timers.observe("k", entry.open, revision: 2, now: .seconds(100))
    #expect(Self.changes(timers, .seconds(144.9)).isEmpty)
    #expect(Self.changes(timers, .seconds(145)) == [.expire])
    _ = try entry.renew(claim, lease: Self.lease)
    timers.observe("k", entry.open, revision: 3, now: .seconds(140))
    #expect(Self.changes(timers, .seconds(184.9)).isEmpty)
    #expect(Self.changes(timers, .seconds(185)) == [.expire])
  }

  @Test func arrivingAgainARevisionExtendsNothing() throws {
    var timers = JobTimers()
    let (entry, _) = try Self.claimed()
    timers.observe("k", entry.open, revision: 2, now: .seconds(100))
    timers.observe("k", entry.open, revision: 2, now: .seconds(130))
    #expect(Self.changes(timers, .seconds(145)) == [.expire])
  }

  @Test func aWaitingJobNeverExpires() throws {
    var timers = JobTimers()
    var entry = DeviceEntry()
    try entry.publish(Self.job(), recorded: 0)
    timers.observe("k", entry.open, revision: 1, now: .zero)
    #expect(Self.changes(timers, .seconds(1_000_000)).isEmpty)
  }

  @Test func aReturnedJobIsOfferedAgainAndItsSearchEnds() throws {
    var timers = JobTimers()
    var (entry, claim) = try Self.claimed(search: .seconds(30))
    entry.release(claim, .notHeard)
    timers.observe("k", entry.open, revision: 3, now: .seconds(100))
    #expect(Self.changes(timers, .seconds(109)).isEmpty)
    #expect(Self.changes(timers, .seconds(110)) == [.offerAgain])
    entry.offerAgain(Self.job().id)
    let second = entry.claim(for: Self.worker, lease: Self.lease)
    claim = try #require(second)
    timers.observe("k", entry.open, revision: 5, now: .seconds(111))
    // The search started with the first return, not with this claim.
    #expect(Self.changes(timers, .seconds(130)) == [.endSearch])
    entry.endSearch(Self.job().id)
    entry.release(claim, .notHeard)
    #expect(entry.open == nil)
  }

  @Test func anOutcomeOfAnExpiredClaimIsAFactAndChangesNothingElse() throws {
    var (entry, claim) = try Self.claimed()
    entry.expire(Self.job().id)
    let second = entry.claim(for: FleetWorker(name: "b", site: "s"), lease: Self.lease)
    let next = try #require(second)
    let isHeld = entry.finish(claim, .current(version: nil))
    #expect(!isHeld)
    #expect(entry.open?.state == .claimed(worker: "b"))
    let isEnded = entry.finish(next, .current(version: nil))
    #expect(isEnded)
    #expect(entry.open == nil)
    let late = entry.jobs["r"]?.facts.count { fact in
      if case .outcomeReportedLate = fact.event { true } else { false }
    }
    #expect(late == 1)
  }

  @Test func theRecordedFactsOfAnEarlierAttemptAreDropped() throws {
    var (entry, claim) = try Self.claimed()
    entry.release(claim, .deviceBusy)
    let count = try #require(entry.jobs["r"]?.factCount)
    try entry.publish(Self.job(attempt: 2), recorded: count)
    #expect(entry.jobs["r"]?.facts.isEmpty == true)
    #expect(entry.jobs["r"]?.factCount == count)
  }

  // MARK: Facts

  @Test func aRevisionIsRecordedWhenAllEarlierFactsAre() throws {
    var book = FactBook()
    var (entry, claim) = try Self.claimed()
    let isFirst = book.receive(try #require(entry.open), of: "k", revision: 5)
    #expect(isFirst)
    try entry.report(claim, .devicePlaced(device: "d", attempt: 1, adapter: "hci0"))
    let isSecond = book.receive(try #require(entry.open), of: "k", revision: 9)
    #expect(isSecond)
    #expect(book.recordedRevision(at: 20) == 4)
    book.record(upTo: 1)
    #expect(book.recordedRevision(at: 20) == 8)
    book.record(upTo: 2)
    #expect(book.recordedRevision(at: 20) == 20)
    let isThird = book.receive(try #require(entry.open), of: "k", revision: 21)
    #expect(!isThird)
  }

  @Test func theNextCoordinatorContinuesAfterTheRecordedRevision() throws {
    var book = FactBook()
    let (entry, _) = try Self.claimed()
    _ = book.receive(try #require(entry.open), of: "k", revision: 5)
    book.resume(after: 5)
    #expect(book.facts(limit: 10).isEmpty)
    _ = book.receive(try #require(entry.open), of: "other", revision: 6)
    #expect(book.facts(limit: 10).map(\.number) == [2])
  }

  // MARK: Entries of others

  @Test func anEntryForAnotherDeviceThanItsKeyIsIgnored() throws {
    let (entry, _) = try Self.claimed()
    let bytes = EntryBucket.encode(entry)
    #expect(EntryBucket.decode(bytes, of: "s.d") == entry)
    #expect(EntryBucket.decode(bytes, of: "s.e") == nil)
    #expect(EntryBucket.decode(bytes, of: "t.d") == nil)
    #expect(EntryBucket.decode(Array("{}".utf8), of: "s.d") == nil)
  }
}
#endif
