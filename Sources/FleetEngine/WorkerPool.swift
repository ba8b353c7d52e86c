import OtaflashFleet
import OtaflashGATT
import Synchronization

/// A worker with its adapters, which claims jobs while a place is free, and executes them
/// concurrently. It does not depend on waves and thresholds, because only permitted jobs are
/// published.
struct WorkerPool: Sendable {
  /// The polling interval while no job is available, or all adapters are in use.
  private static let idleInterval = Duration.milliseconds(50)
  /// The length of a sample, which spans many connection events of every link but is short compared
  /// with a transfer.
  private static let sampleInterval = Duration.seconds(5)

  let worker: FleetWorker
  let campaign: Campaign
  /// The run, with its devices, as it was planned or resumed.
  let plan: FleetRun
  let exchange: any JobExchange
  let transport: any DeviceTransport
  let environment: FleetEnvironment
  let time: RunClock
  let adapters: AdapterWatch

  init(
    worker: FleetWorker, campaign: Campaign, plan: FleetRun, exchange: any JobExchange,
    transport: any DeviceTransport, environment: FleetEnvironment, time: RunClock,
    adapters: AdapterWatch
  ) {
    self.worker = worker
    self.campaign = campaign
    self.plan = plan
    self.exchange = exchange
    self.transport = transport
    self.environment = environment
    self.time = time
    self.adapters = adapters
  }

  /// Executes jobs until the task is cancelled. Running jobs then end at a safe point, and are
  /// returned.
  ///
  /// - Throws: an error of the exchange.
  func run() async throws(ExchangeFault) {
    let failure = FirstFailure()
    await withDiscardingTaskGroup { group in
      var pool = AdapterPool(parallel: campaign.parallel, clock: environment.clock)
      var sampled = environment.clock.now
      while !Task.isCancelled, failure.fault == nil {
        let present = transport.adapters()
        pool.refresh(present)
        for notice in adapters.saw(present, at: environment.clock.now) {
          environment.notice(notice)
        }
        do throws(ExchangeFault) {
          while let (claim, lane) = try await next(on: &pool) {
            lane.reserve()
            group.addTask {
              do throws(ExchangeFault) { try await attempt(claim, on: lane).run() } catch {
                failure.note(error)
              }
              lane.free()
            }
          }
        } catch {
          failure.note(error)
        }
        await environment.clock.pause(for: Self.idleInterval)
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
    JobClaim, AdapterLane
  )? {
    if let placed = try await placeHeld(on: &pool) { return placed }
    while let loads = pool.freeLoads, pool.hasRoomToHold {
      guard
        let claim = try await exchange.claim(
          for: worker, now: time.passed, lease: Attempt.lease)
      else { return nil }
      switch AdapterChoice(hearing: transport.hearing(of: claim.job.id.device), loads: loads) {
      case .on(let adapter): return pool.lane(adapter).map { (claim, $0) }
      case .notHeard: try await exchange.release(claim, .notHeard)
      case .full: pool.held.append(AdapterPool.Held(claim: claim, until: claim.until))
      }
    }
    return nil
  }

  /// Returns the first held job for which an adapter now has a free place.
  private func placeHeld(
    on pool: inout AdapterPool
  ) async throws(ExchangeFault) -> (JobClaim, AdapterLane)? {
    let waiting = pool.held
    pool.held = []
    var placed: (JobClaim, AdapterLane)?
    for var held in waiting {
      let isKept = try await keep(&held)
      if !isKept { continue }
      guard placed == nil, let loads = pool.freeLoads else {
        pool.held.append(held)
        continue
      }
      let hearing = transport.hearing(of: held.claim.job.id.device)
      switch AdapterChoice(hearing: hearing, loads: loads) {
      case .on(let adapter): placed = pool.lane(adapter).map { (held.claim, $0) }
      case .notHeard: try await exchange.release(held.claim, .notHeard)
      case .full: pool.held.append(held)
      }
    }
    return placed
  }

  /// Renews the claim of a held job; `false` = the claim was lost.
  private func keep(_ held: inout AdapterPool.Held) async throws(ExchangeFault) -> Bool {
    let now = time.passed
    guard now.duration(to: held.until) < Attempt.lease * 2 / 3 else { return true }
    do throws(ExchangeFault) {
      switch try await exchange.renew(held.claim, now: now, lease: Attempt.lease) {
      case .held(let until):
        held.until = until
        return true
      case .recalled:
        try await exchange.release(held.claim, .recalled)
        return false
      }
    } catch .claimLost {
      return false
    } catch {
      throw error
    }
  }

  private func giveBack(_ claim: JobClaim, _ failure: FirstFailure) async {
    do throws(ExchangeFault) { try await exchange.release(claim, .stopping) } catch {
      failure.note(error)
    }
  }

  private func attempt(_ claim: JobClaim, on lane: AdapterLane) -> Attempt {
    Attempt(
      claim: claim, lane: lane, choices: campaign.flash,
      conditions: DeviceConditions(campaign.requirements), exchange: exchange, transport: transport,
      environment: environment, time: time, hooks: hooks(around: claim))
  }

  private func hooks(around claim: JobClaim) -> DeviceHooks? {
    let commands = campaign.hooks.commands
    guard commands[.beforeDevice] != nil || commands[.afterDevice] != nil else { return nil }
    return DeviceHooks(
      claim: claim, campaign: campaign, facts: HookFacts(claim.job, of: campaign, in: plan),
      exchange: exchange, runner: environment.hooks)
  }
}

/// The adapters of a worker pool, each with its lane, and the jobs that wait for one of them.
private struct AdapterPool {
  /// A claimed job that waits for an adapter.
  struct Held {
    let claim: JobClaim
    var until: WallClockTime
  }

  private let parallel: Int?
  private let clock: any LinkClock
  private var all: [String: AdapterLane] = [:]
  private var present: [String] = []
  var held: [Held] = []

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
