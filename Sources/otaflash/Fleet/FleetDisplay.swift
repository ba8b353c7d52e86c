#if Fleet
import OtaflashFleet
import OtaflashFleetEngine
import OtaflashFleetStore
import OtaflashGATT
import OtaflashUpdate
import Synchronization

/// Shows a run as it goes: a block of lines on a terminal, plain lines elsewhere, events for
/// programs.
final class FleetDisplay: Sendable {
  /// No more than ten times a second.
  private static let redrawInterval = Duration.milliseconds(100)
  /// Where there is no block: how often it is told where the run stands.
  private static let plainInterval = Duration.seconds(30)

  private let console: Console
  private let clock: any LinkClock
  private let screen: Mutex<FleetScreen>
  /// The head of the run's chain as it was recorded last.
  private let head: @Sendable () -> ChainHead?

  /// - Parameters:
  ///   - soaks: the waves' soak times, in their order.
  ///   - clock: the run's.
  ///   - head: reads the head of the run's chain.
  init(
    _ console: Console, soaks: [Duration], clock: any LinkClock,
    head: @escaping @Sendable () -> ChainHead?
  ) {
    self.console = console
    self.clock = clock
    self.head = head
    screen = Mutex(
      FleetScreen(
        style: console.settings.errorStyle, tellsSuccesses: console.settings.progress != .bar,
        soaks: soaks))
  }

  func observe(_ events: [FleetEvent], _ run: FleetRun) {
    let now = clock.now.elapsed
    for line in screen.withLock({ $0.observe(events, run, at: now) }) { console.note(line) }
    for event in events {
      if case .attemptEnded(let device, _, let ending) = event {
        console.end(updateOf: device, ok: ending.isSuccess)
      }
      let (type, members) = event.told(in: run)
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
    console.observe(event, of: device)
  }

  func notice(_ notice: FleetNotice) {
    let (event, adapter, words): (String, String?, String) =
      switch notice {
      case .noAdapter: ("none", nil, "there is no adapter; nothing is begun until one is back")
      case .adapterLost(let name): ("lost", name, "adapter \(name) is gone")
      case .adapterBack(let name): ("back", name, "adapter \(name) is there")
      }
    console.event("fleet_adapter", ["event": .string(event), "adapter": .text(adapter)])
    console.note(words)
  }

  /// Draws until it is cancelled.
  func run() async {
    switch console.settings.progress {
    case .bar:
      while await Pause.sleep(for: Self.redrawInterval) {
        let error = FileOutput.standardError
        console.show(block(rows: error.rows, columns: error.columns))
      }
      console.show([])
    case .plain:
      while await Pause.sleep(for: Self.plainInterval) {
        console.note(block(rows: 2, columns: .max).last ?? "")
      }
    case .none: break
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

extension ChainHead {
  /// What is worth keeping outside of the store.
  var words: String {
    "\(Text.counted(events, "event")), the last has the hash \(Text.hex(hash))"
  }

  func members(of run: String) -> [JSONValue.Member] {
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
