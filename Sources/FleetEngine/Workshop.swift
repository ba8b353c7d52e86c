import OtaflashFleet
import OtaflashGATT
import Synchronization

/// A worker with its adapters: claims jobs as long as a place is free, and carries them out side by
/// side. It knows nothing of waves and thresholds; what it may not begin, it is not offered.
package struct Workshop: Sendable {
  /// How often jobs are looked for when there were none, and adapters when all are busy.
  private static let idleInterval = Duration.milliseconds(200)
  /// As long as it takes several connection events of every link, and short against a transfer.
  private static let sampleInterval = Duration.seconds(5)

  package let worker: FleetWorker
  package let choices: FlashChoices
  /// Transfers side by side on an adapter; `nil` = learned.
  package let parallel: Int?
  package let exchange: any JobExchange
  package let reach: any DeviceReach
  package let surroundings: FleetSurroundings

  package init(
    worker: FleetWorker, choices: FlashChoices, parallel: Int?, exchange: any JobExchange,
    reach: any DeviceReach, surroundings: FleetSurroundings
  ) {
    self.worker = worker
    self.choices = choices
    self.parallel = parallel
    self.exchange = exchange
    self.reach = reach
    self.surroundings = surroundings
  }

  /// Works until the task is cancelled; what runs then is ended at a safe point and given back.
  ///
  /// - Throws: what the exchange could not keep.
  package func run() async throws(ExchangeFault) {
    let failure = FirstFailure()
    await withDiscardingTaskGroup { group in
      var floor = Floor(parallel: parallel)
      var sampled = surroundings.clock.now
      while !Task.isCancelled, failure.fault == nil {
        floor.refresh(reach.adapters())
        do throws(ExchangeFault) {
          while let (claim, lane) = try await next(on: &floor) {
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
        await surroundings.clock.pause(for: Self.idleInterval)
        let elapsed = sampled.duration(to: surroundings.clock.now)
        if elapsed >= Self.sampleInterval {
          for lane in floor.lanes { lane.sample(took: elapsed) }
          sampled = surroundings.clock.now
        }
      }
      group.cancelAll()
    }
    if let fault = failure.fault { throw fault }
  }

  /// A job and the adapter for it; `nil` when there is none now.
  private func next(on floor: inout Floor) async throws(ExchangeFault) -> (JobClaim, AdapterLane)? {
    while let loads = floor.freeLoads {
      guard
        let claim = try await exchange.claim(
          for: worker, now: surroundings.wall(), lease: Attempt.lease)
      else { return nil }
      let hearing = reach.hearing(of: claim.job.id.device)
      switch AdapterChoice(hearing: hearing, loads: loads) {
      case .on(let adapter): return floor.lane(adapter).map { (claim, $0) }
      case .notHeard: try await exchange.release(claim, .notHeard)
      case .full: try await exchange.release(claim, .placeTaken)
      }
    }
    return nil
  }

  private func attempt(_ claim: JobClaim, on lane: AdapterLane) -> Attempt {
    Attempt(
      claim: claim, lane: lane, choices: choices, exchange: exchange, reach: reach,
      surroundings: surroundings)
  }
}

/// The adapters of a workshop, each with its lane.
private struct Floor {
  private let parallel: Int?
  private var all: [String: AdapterLane] = [:]
  private var present: [String] = []

  init(parallel: Int?) { self.parallel = parallel }

  /// A lane outlives its adapter: one that comes back is still known.
  mutating func refresh(_ adapters: [String]) {
    present = adapters
    for adapter in adapters where all[adapter] == nil {
      all[adapter] = AdapterLane(adapter: adapter, fixed: parallel)
    }
  }

  var lanes: [AdapterLane] { present.compactMap { all[$0] } }

  /// The loads of the adapters that are there; `nil` when none has a free place.
  var freeLoads: [AdapterLoad]? {
    let loads = lanes.map(\.load)
    return loads.contains { $0.busy < $0.places } ? loads : nil
  }

  func lane(_ adapter: String) -> AdapterLane? { all[adapter] }
}

/// What went wrong first, of what runs side by side.
private final class FirstFailure: Sendable {
  private let stored = Mutex<ExchangeFault?>(nil)

  var fault: ExchangeFault? { stored.withLock { $0 } }

  func note(_ fault: ExchangeFault) { stored.withLock { $0 = $0 ?? fault } }
}
