import OtaflashFleet

/// An empty exchange for one case, with its time. Coordinator and workers have separate
/// connections, and share nothing except the exchange.
package protocol ConformanceBench: Sendable {
  /// The connection of the coordinator.
  var coordinator: any JobExchange { get }
  /// The length of one second of the cases. An engine in real time uses a shorter length.
  var second: Duration { get }
  /// The time for which the exchange does not offer a job to a worker that returned it as
  /// `notHeard`, in seconds of the cases.
  var searchDelay: Int { get }

  /// Returns the connection of a worker, new at each call.
  func connection(of worker: FleetWorker) -> any JobExchange

  /// Lets time pass.
  func pass(_ duration: Duration) async
}

extension ConformanceBench {
  var lease: Duration { second * 45 }

  func pass(seconds: Int) async { await pass(second * seconds) }

  func publish(_ jobs: UpdateJob...) async throws(ExchangeFault) {
    for job in jobs { try await coordinator.publish(job) }
  }

  func job(
    _ device: String, attempt: Int = 1, site: String? = nil, run: String = "r", search: Int = 0
  ) -> UpdateJob {
    var order = WorkOrder()
    order.search = second * search
    return UpdateJob(
      id: UpdateJob.ID(run: run, device: device, attempt: attempt), site: site, image: "i",
      verifyFirst: attempt > 1, order: order)
  }

  /// Claims a job that is available now; returns `nil` if there is no such job.
  func claimed(by worker: FleetWorker) async throws(ExchangeFault) -> JobClaim? {
    try await connection(of: worker).claim(for: worker, lease: lease, waitingUpTo: .zero)
  }

  /// Claims a job, which must be available now.
  func claim(
    by worker: FleetWorker = .a, line: Int = #line
  ) async throws -> JobClaim {
    guard let claim = try await claimed(by: worker) else {
      throw ConformanceFailure(what: "a job can be claimed", line: line)
    }
    return claim
  }

  /// The connection of the worker of a claim.
  func holder(_ claim: JobClaim) -> any JobExchange {
    connection(of: FleetWorker(name: claim.worker))
  }

  func renew(_ claim: JobClaim) async throws(ExchangeFault) -> ClaimStanding {
    try await holder(claim).renew(claim, lease: lease)
  }

  func report(_ claim: JobClaim, _ event: FleetEvent) async throws(ExchangeFault) {
    try await holder(claim).report(claim, event)
  }

  func finish(
    _ claim: JobClaim, _ ending: AttemptEnding = .current(version: nil)
  ) async throws(ExchangeFault) {
    try await holder(claim).finish(claim, ending)
  }

  func release(_ claim: JobClaim, _ reason: ReturnReason) async throws(ExchangeFault) {
    try await holder(claim).release(claim, reason)
  }

  func facts(of run: String = "r") async throws(ExchangeFault) -> [FleetEvent] {
    try await coordinator.facts(of: run, after: 0, limit: 100_000).map(\.event)
  }

  func expectLost(
    _ what: String, line: Int = #line, _ body: () async throws(ExchangeFault) -> Void
  ) async throws(ConformanceFailure) {
    do throws(ExchangeFault) { try await body() } catch .claimLost { return } catch {
      throw ConformanceFailure(what: "\(what): the claim is lost, but: \(error)", line: line)
    }
    throw ConformanceFailure(what: "\(what): the claim is lost", line: line)
  }

  func expectNoJob(
    for worker: FleetWorker = .b, _ what: String, line: Int = #line
  ) async throws {
    let claim = try await claimed(by: worker)
    try expect(claim == nil, what, line: line)
  }
}

extension FleetWorker {
  static let a = FleetWorker(name: "a")
  static let b = FleetWorker(name: "b")
}

func expect(_ holds: Bool, _ what: String, line: Int = #line) throws(ConformanceFailure) {
  guard holds else { throw ConformanceFailure(what: what, line: line) }
}

func claimedEvent(_ device: String, by worker: String) -> FleetEvent {
  .deviceClaimed(device: device, attempt: 1, worker: worker)
}

func expired(_ device: String) -> FleetEvent { .claimExpired(device: device, attempt: 1) }

func placed(_ device: String) -> FleetEvent {
  .devicePlaced(device: device, attempt: 1, adapter: "hci0")
}

func activating(_ device: String) -> FleetEvent { .deviceActivating(device: device, attempt: 1) }

func ended(_ device: String, _ ending: AttemptEnding) -> FleetEvent {
  .attemptEnded(device: device, attempt: 1, ending: ending)
}

func late(_ device: String, by worker: String, _ ending: AttemptEnding) -> FleetEvent {
  .outcomeReportedLate(device: device, attempt: 1, worker: worker, ending: ending)
}

let reverted = AttemptEnding.failed(
  AttemptFailure(.device, code: "reverted", words: "the device reverted"))
