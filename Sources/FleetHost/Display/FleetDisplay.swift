#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetStore
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// Shows the progress of a run: a block of lines on a terminal, plain lines on other outputs, and
/// JSON events.
final class FleetDisplay: Sendable {
  /// The minimum interval between two redraws.
  private static let redrawInterval = Duration.milliseconds(100)
  /// The interval at which waits are updated; a multiple of the redraw interval.
  private static let lookInterval = Duration.seconds(1)
  /// The number of wait updates between two progress lines, if there is no block.
  private static let looksPerLine = 30

  private let console: Console
  private let updates: UpdateDisplay
  private let clock: any LinkClock
  private let wall: @Sendable () -> WallClockTime
  private let windows: TransferWindows
  private let screen: Mutex<FleetScreen>
  /// Returns the last recorded head of the run's chain.
  private let head: @Sendable () -> ChainHead?

  /// - Parameters:
  ///   - plan: the plan of the run.
  ///   - clock: the clock of the run.
  ///   - wall: the wall clock time of the run's records.
  ///   - head: reads the head of the run's chain.
  init(
    _ console: Console, _ updates: UpdateDisplay, _ plan: CampaignPlan, clock: any LinkClock,
    wall: @escaping @Sendable () -> WallClockTime,
    head: @escaping @Sendable () -> ChainHead?
  ) {
    self.console = console
    self.updates = updates
    self.clock = clock
    self.wall = wall
    self.head = head
    windows = plan.campaign.windows
    screen = Mutex(
      FleetScreen(
        style: console.settings.errorStyle, tellsSuccesses: console.settings.progress != .bar,
        soaks: plan.waves.map(\.wave.soak)))
  }

  func observe(_ events: [FleetEvent], _ run: FleetRun) {
    let now = clock.now.elapsed
    for line in screen.withLock({ $0.observe(events, run, at: now) }) { console.note(line) }
    for event in events {
      if case .attemptEnded(let device, _, let ending) = event {
        updates.end(updateOf: device, ok: ending.isSuccess)
      }
      let (type, members) = event.report(in: run)
      console.event(type, members)
    }
    if events.contains(where: \.isVerdict), let id = run.beginning?.id, let head = head() {
      console.note("  " + head.words)
      console.event("fleet_chain", head.members(of: id))
    }
  }

  func observe(_ device: FleetDevice.ID, _ event: UpdateEvent) {
    let now = clock.now.elapsed
    screen.withLock { $0.observe(event, of: device, at: now) }
    updates.observe(event, of: device)
  }

  func notice(_ notice: FleetNotice) {
    let (event, adapter, words): (String, String?, String) =
      switch notice {
      case .noAdapter:
        ("none", nil, "there is no adapter; updates start again when an adapter is available")
      case .adapterLost(let name): ("lost", name, "adapter \(name) is no longer available")
      case .adapterBack(let name): ("back", name, "adapter \(name) is available again")
      }
    console.event("fleet_adapter", ["event": .string(event), "adapter": .text(adapter)])
    console.note(words)
  }

  /// Draws until the task is cancelled.
  func run() async {
    guard console.settings.progress != .bar else { return await drawBlock() }
    var looks = 0
    while await Pause.sleep(for: Self.lookInterval) {
      look()
      looks += 1
      if console.settings.progress == .plain, looks.isMultiple(of: Self.looksPerLine) {
        console.note(block(rows: 2, columns: .max).last ?? "")
      }
    }
  }

  private func drawBlock() async {
    let redrawsPerLook = Int(Self.lookInterval / Self.redrawInterval)
    var redraws = 0
    while await Pause.sleep(for: Self.redrawInterval) {
      redraws += 1
      if redraws.isMultiple(of: redrawsPerLook) { look() }
      let error = FileOutput.standardError
      console.show(block(rows: error.rows, columns: error.columns))
    }
    console.show([])
  }

  /// Reports each wait of the run once.
  private func look() {
    let now = wall()
    let new = screen.withLock { screen in
      screen.look(at: now, windows).map {
        (wait: $0, words: screen.words(of: $0), members: screen.members(of: $0))
      }
    }
    for (wait, words, members) in new {
      console.event("fleet_wait", members)
      if console.settings.progress == .plain, !wait.reason.hasEvent {
        console.note("waiting: \(words)")
      }
    }
  }

  private func block(rows: Int, columns: Int) -> [Line] {
    let now = clock.now.elapsed
    return screen.withLock { $0.block(rows: rows, columns: columns, at: now) }
  }
}

extension FleetEvent {
  fileprivate var isVerdict: Bool { if case .waveJudged = self { true } else { false } }
}

extension RunWait.Reason {
  /// Whether an event of the run, or a notice, already reports the wait.
  fileprivate var hasEvent: Bool {
    switch self {
    case .soak, .approval, .paused, .noAdapter, .hook: true
    case .window, .retry, .noFreePlace: false
    }
  }
}

extension ChainHead {
  /// The head of the chain as text, which the user can keep outside of the store.
  package var words: String {
    "\(Text.counted(events, "event")), the last has the hash \(Text.hex(hash))"
  }

  package func members(of run: String) -> [JSONValue.Member] {
    JSONValue.fields([
      "run": .string(run), "events": .integer(events), "chain": .string(Text.hex(hash)),
    ])
  }
}

extension AttemptEnding {
  fileprivate var isSuccess: Bool {
    switch self {
    case .updated, .current: true
    case .failed, .skipped, .returned: false
    }
  }
}
#endif
