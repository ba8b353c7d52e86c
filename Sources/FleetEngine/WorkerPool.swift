import OtaflashFleet
import OtaflashGATT
import Synchronization

/// A worker with its adapters, which claims jobs while a place is free, and executes them
/// concurrently. It does not depend on waves and thresholds, because only permitted jobs are
/// published.
package struct WorkerPool: Sendable {
  /// The polling interval while all adapters are in use, or jobs wait for one of them, and the
  /// pause after a wait for a job.
  private static let idleInterval = Duration.milliseconds(50)
  /// The pause after a call that the exchange did not answer.
  private static let unavailablePause = Duration.seconds(1)
  /// The maximum wait for a job in one call: short, because adapters may disappear during the wait.
  private static let longPoll = Duration.seconds(1)
  /// The length of a sample: several connection events of every link, but short compared with a
  /// transfer.
  private static let sampleInterval = Duration.seconds(5)

  /// Returns the maximum number of concurrent transfers of a worker.
  ///
  /// - Parameter parallel: the number of transfers on each adapter; `nil` = automatic.
  package static func places(adapters: Int, parallel: Int?) -> Int {
    adapters * (parallel ?? AdapterLane.linksMaximum)
  }

  let worker: FleetWorker
  /// The number of concurrent transfers on an adapter; `nil` = automatic.
  let parallel: Int?
  let exchange: any JobExchange
  let transport: any DeviceTransport
  let environment: FleetEnvironment
  let adapters: AdapterWatch

  init(
    worker: FleetWorker, parallel: Int?, exchange: any JobExchange, transport: any DeviceTransport,
    environment: FleetEnvironment, adapters: AdapterWatch
  ) {
    self.worker = worker
    self.parallel = parallel
    self.exchange = exchange
    self.transport = transport
    self.environment = environment
    self.adapters = adapters
  }

  /// Creates the pool of a process without a coordinator.
  package init(
    worker: FleetWorker, parallel: Int?, exchange: any JobExchange, transport: any DeviceTransport,
    environment: FleetEnvironment
  ) {
    self.init(
      worker: worker, parallel: parallel, exchange: exchange, transport: transport,
      environment: environment, adapters: AdapterWatch())
  }

  /// Executes jobs until the task is cancelled; running jobs are then ended at a safe point and
  /// returned.
  ///
  /// - Throws: an error of the exchange.
  package func run() async throws(ExchangeFault) {
    let failure = FirstFailure()
    await withDiscardingTaskGroup { group in
      var pool = AdapterPool(parallel: parallel, clock: environment.clock)
      var sampled = environment.clock.now
      while !Task.isCancelled, failure.fault == nil {
        var pause = Self.idleInterval
        let present = transport.adapters()
        pool.refresh(present)
        for notice in adapters.saw(present, at: environment.clock.now) {
          environment.notice(notice)
        }
        do throws(ExchangeFault) {
          while let (held, lane) = try await next(on: &pool) {
            lane.reserve()
            let (id, active) = (held.claim.job.id, pool.active)
            active.insert(id)
            group.addTask {
              do throws(ExchangeFault) { try await attempt(held, on: lane).run() } catch {
                failure.note(error)
              }
              active.remove(id)
              lane.free()
            }
          }
        } catch .unavailable {
          // The exchange may have granted a claim whose reply was lost.
          pool.mayHaveLostClaims = true
          pause = Self.unavailablePause
        } catch {
          failure.note(error)
        }
        await environment.clock.pause(for: pause)
        let elapsed = sampled.duration(to: environment.clock.now)
        if elapsed >= Self.sampleInterval {
          for lane in pool.lanes { lane.sample(took: elapsed) }
          sampled = environment.clock.now
        }
      }
      group.cancelAll()
      for held in pool.held { await giveBack(held.claim, failure) }
    }
    if let fault = failure.fault { throw fault }
  }

  /// Returns a job and its adapter; `nil` = no job can start at the moment.
  private func next(on pool: inout AdapterPool) async throws(ExchangeFault) -> (
    AdapterPool.Held, AdapterLane
  )? {
    if pool.mayHaveLostClaims { try await findClaims(for: &pool) }
    if let placed = try await placeHeld(on: &pool) { return placed }
    while let loads = pool.freeLoads, pool.hasRoomToHold {
      let moment = environment.elapsed()
      let wait = pool.held.isEmpty ? Self.longPoll : .zero
      guard
        let claim = try await exchange.claim(
          for: worker, lease: ClaimDeadline.lease, waitingUpTo: wait)
      else { return nil }
      let held = held(claim, since: moment)
      if let lane = try await place(held, loads, on: &pool) { return (held, lane) }
    }
    return nil
  }

  private func held(_ claim: JobClaim, since moment: Duration) -> AdapterPool.Held {
    AdapterPool.Held(
      claim: claim, deadline: ClaimDeadline(grantedAt: moment, elapsed: environment.elapsed))
  }

  /// Returns the adapter for a job; `nil` = the job was returned, or waits for an adapter.
  private func place(
    _ held: AdapterPool.Held, _ loads: [AdapterLoad], on pool: inout AdapterPool
  ) async throws(ExchangeFault) -> AdapterLane? {
    let hearing = transport.hearing(of: held.claim.job.id.device)
    switch AdapterChoice(hearing: hearing, loads: loads) {
    case .on(let adapter): return pool.lane(adapter)
    case .notHeard: try await exchange.release(held.claim, .notHeard)
    case .full: pool.held.append(held)
    }
    return nil
  }

  /// Continues claims of this worker that are recorded in the exchange, but not in the pool: the
  /// reply to `claim` was lost, or a former process of the worker made the claim.
  private func findClaims(for pool: inout AdapterPool) async throws(ExchangeFault) {
    let known = Set(pool.held.map(\.claim.job.id))
    for claim in try await exchange.claims(of: worker)
    where !known.contains(claim.job.id) && !pool.active.contains(claim.job.id) {
      let moment = environment.elapsed()
      do throws(ExchangeFault) {
        _ = try await exchange.renew(claim, lease: ClaimDeadline.lease)
        pool.held.append(held(claim, since: moment))
      } catch .claimLost {
        continue
      } catch {
        throw error
      }
    }
    pool.mayHaveLostClaims = false
  }

  /// Renews the claims of the held jobs, and returns the first job for which an adapter now has a
  /// free place.
  private func placeHeld(
    on pool: inout AdapterPool
  ) async throws(ExchangeFault) -> (AdapterPool.Held, AdapterLane)? {
    let waiting = pool.held
    pool.held = []
    var placed: (AdapterPool.Held, AdapterLane)?
    for held in waiting {
      let isKept = try await keep(held)
      if !isKept { continue }
      guard placed == nil, let loads = pool.freeLoads else {
        pool.held.append(held)
        continue
      }
      if let lane = try await place(held, loads, on: &pool) { placed = (held, lane) }
    }
    return placed
  }

  /// Renews the claim of a held job if necessary; `false` = the claim was lost, or the job was
  /// cancelled and is returned.
  private func keep(_ held: AdapterPool.Held) async throws(ExchangeFault) -> Bool {
    guard held.deadline.needsRenewal else { return true }
    do throws(ExchangeFault) {
      if case .held = try await held.deadline.renew(held.claim, on: exchange) { return true }
    } catch {
      return false
    }
    try await exchange.release(held.claim, .recalled)
    return false
  }

  private func giveBack(_ claim: JobClaim, _ failure: FirstFailure) async {
    do throws(ExchangeFault) { try await exchange.release(claim, .stopping) } catch .unavailable {
      // The claim expires.
    } catch {
      failure.note(error)
    }
  }

  private func attempt(_ held: AdapterPool.Held, on lane: AdapterLane) -> Attempt {
    Attempt(
      claim: held.claim, deadline: held.deadline, lane: lane, exchange: exchange,
      transport: transport, environment: environment)
  }
}

/// The adapters of a worker pool, each with its lane, and the jobs that wait for one of them.
private struct AdapterPool {
  /// A claimed job that waits for an adapter.
  struct Held: Sendable {
    let claim: JobClaim
    let deadline: ClaimDeadline
  }

  private let parallel: Int?
  private let clock: any LinkClock
  private var all: [String: AdapterLane] = [:]
  private var present: [String] = []
  var held: [Held] = []
  /// The jobs of current attempts.
  let active = ActiveJobs()
  /// Whether the exchange may have claims of this worker that are not in the pool.
  var mayHaveLostClaims = true

  init(parallel: Int?, clock: any LinkClock) {
    self.parallel = parallel
    self.clock = clock
  }

  /// Whether another job may be held. The limit is one for each adapter, so that a busy adapter
  /// delays no other adapter.
  var hasRoomToHold: Bool { held.count < present.count }

  /// Updates the present adapters. A lane outlives its adapter, and is reused when the adapter
  /// returns.
  mutating func refresh(_ adapters: [String]) {
    for adapter in adapters where !present.contains(adapter) { all[adapter]?.returned() }
    present = adapters
    for adapter in adapters where all[adapter] == nil {
      all[adapter] = AdapterLane(adapter: adapter, fixed: parallel, clock: clock)
    }
  }

  var lanes: [AdapterLane] { present.compactMap { all[$0] } }

  /// The loads of the present adapters; `nil` = no adapter has a free place.
  var freeLoads: [AdapterLoad]? {
    let loads = lanes.map(\.load)
    return loads.contains { $0.busy < $0.places } ? loads : nil
  }

  func lane(_ adapter: String) -> AdapterLane? { all[adapter] }
}

/// The first failure among concurrent tasks.
private final class FirstFailure: Sendable {
  private let stored = Mutex<ExchangeFault?>(nil)

  var fault: ExchangeFault? { stored.withLock { $0 } }

  func note(_ fault: ExchangeFault) { stored.withLock { $0 = $0 ?? fault } }
}

/// The jobs of current attempts.
private final class ActiveJobs: Sendable {
  private let jobs = Mutex<Set<UpdateJob.ID>>([])

  func contains(_ job: UpdateJob.ID) -> Bool { jobs.withLock { $0.contains(job) } }

  func insert(_ job: UpdateJob.ID) { jobs.withLock { _ = $0.insert(job) } }

  func remove(_ job: UpdateJob.ID) { jobs.withLock { _ = $0.remove(job) } }
}
