#if Fleet
import OtaflashATT
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Synchronization

/// Simulated boards, and the adapters that reach them.
final class BoardTransport: DeviceTransport {
  let boards: [FleetDevice.ID: SimulatedBoard]
  private let present: Mutex<[String]>
  /// Adapters that are present, but cannot connect.
  let broken = Mutex<Set<String>>([])
  private let connecting = Mutex<[String: (now: Int, most: Int)]>([:])
  /// The number of established connections, by adapter.
  let made = Mutex<[String: Int]>([:])
  private let links = Mutex<[(adapter: String, link: any Link)]>([])
  private let held = Mutex<(now: Set<FleetDevice.ID>, twice: Int)>(([], 0))
  /// Devices that advertise but never accept a connection, and the clock for the time that the
  /// kernel tries.
  private let deaf: Set<FleetDevice.ID>
  private let clock: (any LinkClock)?

  init(
    _ boards: [FleetDevice.ID: SimulatedBoard], adapters: [String],
    deaf: Set<FleetDevice.ID> = [], clock: (any LinkClock)? = nil
  ) {
    self.boards = boards
    self.deaf = deaf
    self.clock = clock
    present = Mutex(adapters)
  }

  func adapters() -> [String] { present.withLock { $0 } }

  /// Plugs in and unplugs adapters. The links of an unplugged adapter end.
  func setAdapters(_ adapters: [String]) {
    present.withLock { $0 = adapters }
    let cut = links.withLock { links in
      defer { links.removeAll { !adapters.contains($0.adapter) } }
      return links.filter { !adapters.contains($0.adapter) }
    }
    for entry in cut { entry.link.close() }
  }

  /// The maximum number of concurrent connection attempts on one adapter.
  var connectingMost: Int { connecting.withLock { $0.values.map(\.most).max() ?? 0 } }

  func hearing(of device: FleetDevice.ID) -> [AdapterHearing] {
    adapters().map { AdapterHearing(adapter: $0) }
  }

  func connect(
    to device: FleetDevice.ID, at place: DeviceLocation, on adapter: String
  ) async throws(ConnectFault) -> any Link {
    guard adapters().contains(adapter), broken.withLock({ !$0.contains(adapter) }) else {
      throw .adapterUnavailable(cause: "The adapter is gone.", remedy: .plugInAdapter)
    }
    guard let board = boards[device] else {
      throw .deviceNotFound(cause: "No device answers.", remedy: .comeCloser)
    }
    count(adapter, by: 1)
    defer { count(adapter, by: -1) }
    if deaf.contains(device), let clock {
      guard await clock.pause(for: .seconds(20)) else { throw .cancelled }
      throw .lostWhileConnecting(.supervisionTimeout)
    }
    let link = try await board.dial(at: place)
    made.withLock { $0[adapter, default: 0] += 1 }
    links.withLock { $0.append((adapter, link)) }
    return link
  }

  private func count(_ adapter: String, by change: Int) {
    connecting.withLock { all in
      var entry = all[adapter] ?? (0, 0)
      entry.now += change
      entry.most = max(entry.most, entry.now)
      all[adapter] = entry
    }
  }

  func holding<Value: Sendable>(
    _ device: FleetDevice.ID, _ body: @Sendable () async -> Value
  ) async throws(DeviceHeldElsewhere) -> Value {
    let isFree = held.withLock { held in
      let isFree = held.now.insert(device).inserted
      held.twice += isFree ? 0 : 1
      return isFree
    }
    guard isFree else { throw DeviceHeldElsewhere() }
    defer { held.withLock { _ = $0.now.remove(device) } }
    return await body()
  }

  /// The number of requests for a device that was in use.
  var heldTwice: Int { held.withLock { $0.twice } }
}

/// A ledger that keeps only a given number of events, as if the process died afterwards.
final class MortalLedger: EventLedger {
  private let inner: any EventLedger
  private let left: Mutex<Int>

  init(_ inner: any EventLedger, dyingAfter events: Int) {
    self.inner = inner
    left = Mutex(events)
  }

  func append(_ events: [FleetEvent], at moment: WallClockTime) async throws(StorageFault) {
    let lives = left.withLock { left in
      left -= events.count
      return left >= 0
    }
    guard lives else { throw StorageFault(.system, "the process died") }
    try await inner.append(events, at: moment)
  }

  func history() async throws(StorageFault) -> [RecordedEvent] {
    try await inner.history()
  }
}

/// The notices that a run reports about its machine.
final class Notices: Sendable {
  private let stored = Mutex<[FleetNotice]>([])

  var all: [FleetNotice] { stored.withLock { $0 } }

  func note(_ notice: FleetNotice) { stored.withLock { $0.append(notice) } }
}

/// A fleet of boards and one campaign over it, in virtual time.
struct Scene: Sendable {
  static let image = image(bytes: 12_000)

  static func image(bytes: Int) -> FirmwareImage {
    FirmwareImage(
      name: "app", format: .binary,
      bytes: (0..<bytes).map(mixed),
      version: FirmwareVersion(1, 3, 0), hardware: nil)
  }

  /// The outcome of a scene.
  struct Outcome: Sendable {
    let run: FleetRun
    let history: [RecordedEvent]
    /// The version that each board reports to run.
    let truth: [FleetDevice.ID: FirmwareVersion?]
    /// The number of data bytes that each board received.
    let sent: [FleetDevice.ID: Int]
    let took: Duration
    let notices: [FleetNotice]
    let connectingMost: Int
    let heldTwice: Int
    let made: [String: Int]
    /// The number of processes that the run needed.
    let processes: Int
  }

  /// The boards: device ids and profiles.
  var boards: [(id: String, profile: String)]
  var campaign: Campaign
  var adapters = ["hci0", "hci1"]
  /// The packages by the digests in jobs; `nil` = any other digest.
  var packages: [String?: FirmwarePackage] = [
    nil: FirmwarePackage(name: "app", kind: .raw, parts: [Scene.image])
  ]
  /// The numbers of events after which processes die, one number for each process.
  var killsAfter: [Int] = []
  /// The number of newest events that are lost with the first process.
  var forgets = 0
  var hooks: (any HookRunner)?
  /// Devices that advertise and accept no connection.
  var deaf: Set<FleetDevice.ID> = []
  /// The changes of the wall clock: the time of each change from the start, and the difference.
  var jumps: [(after: Duration, by: Duration)] = []
  /// The exchange of each process.
  var exchange: @Sendable (any LinkClock) -> any JobExchange = { MemoryExchange(clock: $0) }
  /// A closure that receives the transport and runs concurrently with the run.
  var meanwhile: @Sendable (BoardTransport, any LinkClock) async -> Void = { _, _ in }

  /// - Parameters:
  ///   - count: the number of boards without faults.
  ///   - others: profiles of further boards.
  init(_ count: Int, and others: [String] = [], waves: [Wave] = [Wave("all", .rest)]) {
    boards = (0..<count).map { ("board\($0)", "fast?seed=\($0 + 1)") }
    boards += others.enumerated().map { ("other\($0)", $1) }
    campaign = Campaign(
      name: "scene", devices: boards.map { FleetDevice(id: $0.id) }, images: [nil: "app.bin"],
      waves: waves)
    campaign.flash.allowUnknown = true
    campaign.flash.writing = .withoutResponse
    campaign.parallel = 4
    campaign.retries = RetryPolicy(
      linkAttempts: 3, firstDelay: .seconds(2), longestDelay: .seconds(10))
  }

  func run(asking commands: Requests? = nil) throws -> Outcome {
    let timeline = VirtualTimeline()
    var made: [FleetDevice.ID: SimulatedBoard] = [:]
    for board in boards {
      made[board.id] = try SimulatedBoard(
        profile: try SimulationProfile(parsing: board.profile), clock: timeline.clock)
    }
    let transport = BoardTransport(made, adapters: adapters, deaf: deaf, clock: timeline.clock)
    let boards = made
    let ran = try timeline.run(limit: .seconds(200_000)) {
      clock -> Result<Ran, any Error> in
      await withTaskGroup(of: Void.self) { power in
        for board in boards.values { power.addTask { _ = await board.run() } }
        power.addTask { await meanwhile(transport, clock) }
        defer { power.cancelAll() }
        do { return .success(try await processes(transport, clock, commands)) } catch {
          return .failure(error)
        }
      }
    }.get()
    var (truth, sent): ([String: FirmwareVersion?], [String: Int]) = ([:], [:])
    for (id, board) in boards {
      truth[id] = board.running.version
      sent[id] = board.counters.dataBytes
    }
    return Outcome(
      run: ran.run, history: ran.history, truth: truth, sent: sent, took: ran.took,
      notices: ran.notices,
      connectingMost: transport.connectingMost, heldTwice: transport.heldTwice,
      made: transport.made.withLock { $0 },
      processes: ran.processes)
  }

  private func wall(at elapsed: Duration) -> WallClockTime {
    let jumped = jumps.filter { $0.after <= elapsed }.reduce(elapsed) { $0 + $1.by }
    return WallClockTime(milliseconds: 1_800_000_000_000 + jumped.wholeMilliseconds)
  }

  private struct Ran: Sendable {
    let run: FleetRun
    let history: [RecordedEvent]
    let took: Duration
    let notices: [FleetNotice]
    let processes: Int
  }

  /// Runs one process after the other, until a process returns the run without a fault.
  private func processes(
    _ transport: BoardTransport, _ clock: any LinkClock, _ commands: Requests?
  ) async throws -> Ran {
    commands?.use(clock)
    (hooks as? ScriptedHooks)?.use(clock)
    let notices = Notices()
    var ledger = MemoryLedger()
    let environment = FleetEnvironment(
      clock: clock,
      wall: { wall(at: clock.now.elapsed) },
      image: { packages[$0] ?? packages[nil] },
      hooks: hooks, notice: { notices.note($0) })
    let plan = try CampaignPlan(campaign, now: environment.wall())
    // Here the name of a file is its digest, except for the file that all scenes have.
    let digests = Dictionary(
      uniqueKeysWithValues: Set(campaign.images.values).map { ($0, $0 == "app.bin" ? "i" : $0) })
    let began = clock.now
    try await ledger.append(
      plan.beginning(id: "r", digest: "d", imageDigests: digests),
      at: environment.wall())
    var kills = killsAfter[...]
    var processes = 0
    while true {
      processes += 1
      var kept: any EventLedger = ledger
      if let kill = kills.popFirst() { kept = MortalLedger(ledger, dyingAfter: kill) }
      var engine = FleetEngine(
        campaign: campaign, exchange: exchange(clock), ledger: kept, transport: transport,
        environment: environment, worker: FleetWorker(name: "process \(processes)"))
      engine.commands = commands
      let ended: FleetRun?
      do throws(FleetEngineFault) { ended = try await engine.run() } catch {
        guard case .storage = error else { throw error }
        ended = nil
      }
      if let ended {
        return Ran(
          run: ended, history: try await ledger.history(),
          took: began.duration(to: clock.now),
          notices: notices.all, processes: processes)
      }
      if processes == 1, forgets > 0 { ledger = try await ledger.forgetting(forgets) }
    }
  }
}
#endif

/// Returns a byte of an image that cannot be compressed, so that devices receive the uncompressed
/// image.
private func mixed(_ index: Int) -> UInt8 {
  var value = UInt32(truncatingIfNeeded: index) &* 0x9E37_79B1
  value ^= value >> 15
  value = value &* 0x85EB_CA77
  return UInt8(truncatingIfNeeded: (value ^ value >> 13) >> 8)
}

#if Fleet
extension MemoryLedger {
  /// Returns a copy of the event log without its newest events.
  fileprivate func forgetting(_ count: Int) async throws -> MemoryLedger {
    let older = MemoryLedger()
    for recorded in try await history().dropLast(count) {
      try await older.append([recorded.event], at: recorded.at)
    }
    return older
  }
}
#endif
