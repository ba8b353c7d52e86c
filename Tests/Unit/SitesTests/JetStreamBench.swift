#if Sites
import OtaflashATT
import OtaflashFleet
import OtaflashFleetConformance
import OtaflashGATT
import OtaflashNATS
import OtaflashSites
import Synchronization

/// The exchange over an account of a server. Leases are measured by a clock that only the bench
/// advances; the server measures none of the times of the cases.
final class JetStreamBench: ConformanceBench {
  private let leader: SiteCoordinator
  private let stream: JetStream
  private let connections: [NATSConnection]
  private let time = BenchTime()
  private let journals = Mutex<[String: MemoryClaimJournal]>([:])
  private let serving: Task<Void, Never>

  let coordinator: any JobExchange
  let second = Duration.seconds(1)
  let searchDelay = 10

  init(_ options: NATSOptions) async throws {
    let own = try await NATSConnection(options, clock: ContinuousClock())
    let workers = try await NATSConnection(options, clock: ContinuousClock())
    connections = [own, workers]
    let ownStream = try JetStream(own)
    stream = try JetStream(workers)
    try await SiteStreams.create(on: ownStream)
    let clock = SystemClock()
    leader = try SiteCoordinator(ownStream, clock: clock, elapsed: { [time] in time.now })
    coordinator = try JetStreamExchange(
      ownStream, clock: clock, coordinator: leader, acceptsAnySite: true)
    serving = Task { [leader] in await leader.serve() }
  }

  func end() async {
    serving.cancel()
    await serving.value
    for connection in connections { await connection.close() }
  }

  func connection(of worker: FleetWorker) -> any JobExchange {
    let journal = journals.withLock { journals in
      let journal = journals[worker.name] ?? MemoryClaimJournal()
      journals[worker.name] = journal
      return journal
    }
    do {
      return PollingWorker(
        exchange: try JetStreamExchange(
          stream, clock: SystemClock(), journal: journal, acceptsAnySite: true),
        bench: self)
    } catch {
      preconditionFailure("the names of buckets are valid: \(error)")
    }
  }

  func pass(_ duration: Duration) async {
    do throws(ExchangeFault) {
      // The coordinator has received each revision before time passes, as with real leases.
      try await leader.settle()
      time.advance(by: duration)
      try await leader.sweep()
    } catch {
      precondition(Task.isCancelled, "the server answers: \(error)")
    }
  }
}

final class BenchTime: Sendable {
  private let value = Mutex(Duration.zero)
  var now: Duration { value.withLock { $0 } }
  func advance(by duration: Duration) { value.withLock { $0 += duration } }
}

/// A worker that waits for jobs in the time of the bench: the server's wait would use real time.
private struct PollingWorker: JobExchange {
  private static let interval = Duration.milliseconds(20)
  /// The number of requests for a job that is available: a busy server passes an offer to its
  /// consumer some time after it has stored the offer.
  private static let requests = 4

  let exchange: JetStreamExchange
  let bench: JetStreamBench

  var outlivesCoordinator: Bool { true }

  func claim(
    for worker: FleetWorker, lease: Duration, waitingUpTo wait: Duration
  ) async throws(ExchangeFault) -> JobClaim? {
    var waited = Duration.zero
    for _ in 1..<Self.requests {
      if let claim = try await exchange.claim(for: worker, lease: lease, waitingUpTo: .zero) {
        return claim
      }
      await SystemClock().pause(for: Self.interval)
    }
    while true {
      if let claim = try await exchange.claim(for: worker, lease: lease, waitingUpTo: .zero) {
        return claim
      }
      guard waited < wait, await SystemClock().pause(for: Self.interval) else { return nil }
      waited += bench.second
      await bench.pass(bench.second)
    }
  }

  func claims(of worker: FleetWorker) async throws(ExchangeFault) -> [JobClaim] {
    try await exchange.claims(of: worker)
  }
  func renew(_ claim: JobClaim, lease: Duration) async throws(ExchangeFault) -> ClaimStanding {
    try await exchange.renew(claim, lease: lease)
  }
  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await exchange.report(claim, event)
  }
  func recorded(_ claim: JobClaim) async throws(ExchangeFault) {
    try await exchange.recorded(claim)
  }
  func progress(_ claim: JobClaim, _ progress: JobProgress) { exchange.progress(claim, progress) }
  func finish(_ claim: JobClaim, _ ending: AttemptEnding) async throws(ExchangeFault) {
    try await exchange.finish(claim, ending)
  }
  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await exchange.release(claim, reason)
  }

  // A worker does not perform the operations of the coordinator.
  func open(_ run: String) async throws(ExchangeFault) { throw .notRecorded }
  func publish(_ job: UpdateJob) async throws(ExchangeFault) { throw .notRecorded }
  func cancel(_ jobs: [UpdateJob.ID]) async throws(ExchangeFault) { throw .notRecorded }
  func facts(
    of run: String, after number: Int, limit: Int
  ) async throws(ExchangeFault) -> [JobFact] { throw .notRecorded }
  func arrival(of run: String, after number: Int) async {}
  func progress(of run: String) async -> [JobProgress] { [] }
  func close(_ run: String) {}
  func forget(_ run: String) async throws(ExchangeFault) { throw .notRecorded }
}
#endif
