#if Fleet
import OtaflashFleet
import OtaflashFleetConformance
import Testing

@testable import OtaflashFleetStore

@Suite struct StoreConformanceTests {
  @Test(arguments: ExchangeConformance.cases)
  func theStoreConforms(_ conformance: ExchangeConformance) async throws {
    let folder = try StoreFolder()
    try await conformance.check(try folder.store())
  }

  /// A local store does not wait for the disk to prolong a claim, which ends with its process; and
  /// one process at a time works with its jobs.
  static let ofOneProcess = [
    "a renewed claim expires later", "a claim can be renewed repeatedly",
    "a renewal reports to the worker that its job was cancelled",
    "a hundred concurrent workers share the jobs without a duplicate",
  ]

  /// Each call is made by another process, as it were: what one has returned, the next one finds.
  @Test(arguments: ExchangeConformance.cases.filter { !ofOneProcess.contains($0.name) })
  func whatACallHasReturnedLasts(_ conformance: ExchangeConformance) async throws {
    try await conformance.check(try ForgetfulExchange())
  }

  /// A run that was broken off holds no device of another one, and hears of it when it goes on.
  @Test func openJobsOfOtherRunsAreTakenBack() async throws {
    let folder = try StoreFolder()
    func job(_ run: String, _ attempt: Int = 1) -> FleetJob {
      FleetJob(id: FleetJob.ID(run: run, device: "a", attempt: attempt), image: "i")
    }
    let store = try folder.store()
    try await store.publish([job("old")])
    await #expect(throws: ExchangeFault.deviceTaken(by: job("old").id)) {
      try await store.publish([job("new")])
    }
    try store.withdrawJobs(ofOthersThan: "new")
    try await store.publish([job("new")])
    let news = try await folder.store().news(after: 0, now: Sample.now, limit: 10)
    #expect(news.map(\.job) == [job("old").id])
    #expect(news.map(\.fact) == [.ended(.returned(.recalled))])
    try store.withdrawJobs(ofOthersThan: "old")
    try await store.publish([job("old", 2)])
  }

  @Test func claimsOfAProcessThatIsGoneAreGivenBack() async throws {
    let folder = try StoreFolder()
    let job = FleetJob(
      id: FleetJob.ID(run: "r", device: "a", attempt: 1), image: "i")
    let before = try folder.store()
    try await before.publish([job])
    let claim = try await before.claim(
      for: FleetWorker(name: "w"), now: Sample.now, lease: .seconds(45))
    #expect(claim?.job == job)
    let after = try folder.store()
    try after.abandonClaims()
    let news = try await after.news(after: 0, now: Sample.now, limit: 10)
    #expect(news.map(\.fact) == [.claimed(worker: "w"), .ended(.returned(.holderGone))])
  }
}

/// Opens the store anew for every call.
private actor ForgetfulExchange: JobExchange {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func store() throws(ExchangeFault) -> FleetStore {
    do throws(StorageFault) { return try FleetStore(path: folder.path) } catch {
      throw .storage(error)
    }
  }

  func publish(_ jobs: [FleetJob]) async throws(ExchangeFault) -> [FleetJob.ID] {
    try await store().publish(jobs)
  }

  func claim(
    for worker: FleetWorker, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    try await store().claim(for: worker, now: now, lease: lease)
  }

  func renew(
    _ claim: JobClaim, now: FleetTime, lease: Duration
  ) async throws(ExchangeFault) -> ClaimStanding {
    try await store().renew(claim, now: now, lease: lease)
  }

  func report(_ claim: JobClaim, _ report: JobReport) async throws(ExchangeFault) {
    try await store().report(claim, report)
  }

  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await store().finish(claim, ending)
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await store().release(claim, reason)
  }

  func cancel(_ jobs: [FleetJob.ID]) async throws(ExchangeFault) { try await store().cancel(jobs) }

  func keep(blob: [UInt8], digest: String) async throws(ExchangeFault) {
    try await store().keep(blob: blob, digest: digest)
  }

  func blob(_ digest: String) async throws(ExchangeFault) -> [UInt8] {
    try await store().blob(digest)
  }

  func news(
    after number: Int, now: FleetTime, limit: Int
  ) async throws(ExchangeFault) -> [JobNews] {
    try await store().news(after: number, now: now, limit: limit)
  }
}
#endif
