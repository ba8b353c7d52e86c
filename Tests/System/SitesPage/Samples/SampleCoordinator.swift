#if Sites
import OtaflashFleet
import OtaflashFleetSamples
import OtaflashFleetStore
import OtaflashSitesPage
import Synchronization

/// A coordinator without gateways: it plays the events of invented runs, and executes commands.
package final class SampleCoordinator: Sendable {
  /// A run that is played.
  private struct Play: Sendable {
    var run: FleetRun
    /// The events to come.
    var rest: ArraySlice<FleetEvent>
  }

  private final class Plays: Sendable {
    let plays = Mutex<[String: Play]>([:])
  }

  package let store: FleetStore
  package let sites: StoredSites
  private let plays: Plays
  private let wall: @Sendable () -> WallClockTime

  /// - Parameter folder: the folder of the store.
  package init(folder: String, environment: SitesEnvironment) throws {
    store = try FleetStore(path: folder + "/fleet.sqlite")
    let (store, plays, wall) = (self.store, Plays(), environment.wall)
    self.plays = plays
    self.wall = wall
    sites = StoredSites(
      store: store,
      functions: .init(
        gateways: { () async throws(SitesFault) in
          let jobs = plays.plays.withLock { $0.values.flatMap { Self.jobs(of: $0.run) } }
          return Self.gateways(at: wall(), jobs: jobs)
        },
        submit: { submission async throws(SitesFault) in
          guard submission.text.contains("name:") else {
            throw .invalidCampaign(["\(submission.name), line 1: the campaign has no name"])
          }
          return try await Self.start(submission, in: store, plays, at: wall())
        }),
      environment: environment)
  }

  private static func start(
    _ submission: CampaignSubmission, in store: FleetStore, _ plays: Plays, at moment: WallClockTime
  ) async throws(SitesFault) -> String {
    var sample = SampleRun(devices: 200, adapters: 3)
    sample.id = plays.plays.withLock { "new\($0.count + 1)" }
    sample.campaign = String(submission.text.split(separator: "\n").first ?? "")
    sample.startedBy = submission.by
    sample.sites = ["Berlin", "Lisbon", "Oslo"]
    let events = sample.history().map(\.event)
    let first = events.prefix { if case .waveBegan = $0 { false } else { true } }
    var run = FleetRun()
    do throws(StorageFault) {
      try await store.ledger(of: sample.id).append(Array(first), at: moment)
    } catch {
      throw .storage(error)
    }
    for event in first { run.apply(event, at: moment) }
    let play = Play(run: run, rest: events.dropFirst(first.count))
    plays.plays.withLock { $0[sample.id] = play }
    return sample.id
  }

  // MARK: Runs

  /// Stores a run that has ended.
  package func keep(_ sample: SampleRun) async throws {
    let ledger = store.ledger(of: sample.id)
    for recorded in sample.history() { try await ledger.append([recorded.event], at: recorded.at) }
  }

  /// Stores a run quickly: all events have the same time.
  package func keepAtOnce(_ sample: SampleRun) async throws {
    let history = sample.history()
    try await store.ledger(of: sample.id).append(history.map(\.event), at: wall())
  }

  /// Starts a run, and plays it until it waits for an approval.
  package func begin(_ sample: SampleRun) async throws {
    let history = sample.history()
    let place = history.firstIndex { if case .approvalAwaited = $0.event { true } else { false } }
    let first = history.prefix(place.map { $0 + 1 } ?? history.count)
    let ledger = store.ledger(of: sample.id)
    for chunk in first.chunkedByTime { try await ledger.append(chunk.events, at: chunk.at) }
    let run = FleetRun(Array(first))
    sites.observe([], run)
    let rest = history.dropFirst(first.count).map(\.event)
    plays.plays.withLock { $0[sample.id] = Play(run: run, rest: rest[...]) }
  }

  /// Executes the pending commands, and plays up to `count` further events of each run.
  package func step(events count: Int = 0) async throws {
    for id in plays.plays.withLock({ Array($0.keys) }) {
      for pending in try await store.commands(of: id).pending() { try await execute(pending, id) }
      try await play(id, events: count)
    }
  }

  private func execute(_ pending: PendingCommand, _ id: String) async throws {
    guard let play = plays.plays.withLock({ $0[id] }) else { return }
    let commands = store.commands(of: id)
    do throws(CommandRefusal) {
      var events = try FleetRules.events(for: pending.command, in: play.run)
      if let action = pending.action { events.insert(.operatorActed(action), at: 0) }
      if pending.command == .cancel { events.append(.runEnded(.cancelled)) }
      do { try await record(events, id) } catch { return }
    } catch {
      try await commands.answer(pending, "\(error)")
      return
    }
    try await commands.answer(pending, CommandAnswer.done)
  }

  private func play(_ id: String, events count: Int) async throws {
    guard let play = plays.plays.withLock({ $0[id] }), play.run.control == .running,
      !play.run.waves.contains(where: { $0.phase == .awaitingApproval })
    else { return }
    let next = play.rest.prefix(count)
    let stop = next.firstIndex { if case .approvalAwaited = $0 { true } else { false } }
    let events = stop.map { next[...$0] } ?? next
    plays.plays.withLock { $0[id]?.rest = play.rest.dropFirst(events.count) }
    // A command of the user has approved the wave, so the recorded approval is omitted.
    let own = events.filter { event in
      switch event {
      case .operatorActed, .waveApproved: false
      default: true
      }
    }
    if !own.isEmpty { try await record(own, id) }
  }

  private func record(_ events: [FleetEvent], _ id: String) async throws {
    guard var run = plays.plays.withLock({ $0[id]?.run }) else { return }
    let now = run.time(wall())
    try await store.ledger(of: id).append(events, at: now)
    for event in events { run.apply(event, at: now) }
    let new = run
    plays.plays.withLock { $0[id]?.run = new }
    sites.observe(events, run)
    for device in run.devices.lazy.filter(\.phase.isClaimed).prefix(8) {
      sites.progressed(
        JobProgress(
          job: .init(run: id, device: device.device.id, attempt: device.attempts),
          bytes: 20_000 + run.eventCount * 97 % 40_000, total: 65_536))
    }
  }

  // MARK: Gateways

  private static func jobs(of run: FleetRun) -> [UpdateJob.ID] {
    run.devices.lazy.filter(\.phase.isClaimed).prefix(6).map {
      UpdateJob.ID(run: run.beginning?.id ?? "", device: $0.device.id, attempt: $0.attempts)
    }
  }

  private static func gateways(at now: WallClockTime, jobs: [UpdateJob.ID]) -> [GatewayState] {
    var gateways: [GatewayState] = []
    for (place, site) in ["Berlin", "Lisbon", "Oslo"].enumerated() {
      for number in 1...(place + 1) {
        let isSilent = site == "Oslo" && number == 3
        gateways.append(
          GatewayState(
            site: site, name: "box-\(number)", version: isSilent ? "1.4.0" : "1.5.0",
            adapters: number == 2 ? ["hci0", "hci1"] : ["hci0"],
            lastReport: now.advanced(by: .seconds(isSilent ? -400 : -number)),
            isRunning: !isSilent,
            jobs: number == 1
              ? jobs.enumerated().filter { $0.offset % 3 == place }.map(\.element) : []))
      }
    }
    return gateways
  }
}

extension ArraySlice<RecordedEvent> {
  /// Consecutive events with the same time.
  fileprivate var chunkedByTime: [(at: WallClockTime, events: [FleetEvent])] {
    reduce(into: []) { chunks, recorded in
      if chunks.last?.at == recorded.at {
        chunks[chunks.count - 1].events.append(recorded.event)
      } else {
        chunks.append((recorded.at, [recorded.event]))
      }
    }
  }
}
#endif
