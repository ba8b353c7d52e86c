#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport
import OtaflashUpdate

/// The display of a run: a line for each active device, a summary line, and permanent lines. The
/// type is pure, so that every line can be tested.
struct FleetScreen: Sendable {
  /// A device with an update in progress.
  private struct Active {
    let name: String
    let adapter: String
    var stage = "waiting"
    var transfer: (meter: RateMeter, from: Int, total: Int)?
  }

  private static let nameMaximum = 24
  /// The maximum number of waits to show at a time.
  private static let waitsMaximum = 3

  private let style: Style
  /// Whether each successful device has a permanent line; `true` if the display has no block.
  private let tellsSuccesses: Bool
  private var run = FleetRun()
  private var active: [(id: FleetDevice.ID, device: Active)] = []
  private var pace: RunPace
  /// The time of the last update of the waits, all waits at that time, and the waits that the
  /// previous update also contained.
  private var looked = WallClockTime(milliseconds: 0)
  private var waits: [RunWait] = []
  private var lastingWaits: [RunWait] = []

  init(style: Style, tellsSuccesses: Bool, soaks: [Duration]) {
    self.style = style
    self.tellsSuccesses = tellsSuccesses
    pace = RunPace(soaks: soaks)
  }

  // MARK: Events

  /// Adds recorded events, and returns their permanent lines.
  mutating func observe(_ events: [FleetEvent], _ run: FleetRun, at now: Duration) -> [Line] {
    self.run = run
    pace.observe(run, at: now)
    for event in events { follow(event) }
    let lines = RunLines(style: style, tellsSuccesses: tellsSuccesses, run: run)
    return events.compactMap { lines.line(for: $0) }
  }

  private mutating func follow(_ event: FleetEvent) {
    switch event {
    case .devicePlaced(let device, _, let adapter):
      leave(device)
      active.append((device, Active(name: run.label(of: device), adapter: adapter)))
    case .attemptEnded(let device, _, _), .claimExpired(let device, _): leave(device)
    default: break
    }
  }

  mutating func observe(_ event: UpdateEvent, of device: FleetDevice.ID, at now: Duration) {
    guard let place = active.firstIndex(where: { $0.id == device }) else { return }
    switch event {
    case .stageBegan(let stage): active[place].device.stage = stage.rawValue
    case .transferBegan(let offset, let total, _):
      active[place].device.transfer = (RateMeter(offset: offset, at: now), offset, total)
    case .progress(let acknowledged, _):
      guard var transfer = active[place].device.transfer else { return }
      pace.acknowledge(max(acknowledged - transfer.meter.acknowledged, 0))
      transfer.meter.acknowledge(acknowledged, at: now)
      active[place].device.transfer = transfer
    case .stageEnded(.upload, _), .restarted, .deliveryGivenUp: active[place].device.transfer = nil
    case .creatingContent: active[place].device.stage = "creating a patch"
    case .linkLost:
      active[place].device.transfer = nil
      active[place].device.stage = "link lost"
    case .connecting, .connected, .device, .stageEnded, .part, .deviceBusy, .rewound, .finished,
      .delivery, .flowing:
      break
    }
  }

  /// Updates the waits of the run. Most waits are short, so a wait is shown only if the previous
  /// update also contained it.
  ///
  /// - Returns: the waits that were not shown before.
  mutating func look(at now: WallClockTime, _ windows: TransferWindows) -> [RunWait] {
    let found = run.waits(at: now, windows: windows)
    let lasting = found.filter { wait in waits.contains { $0.isSame(as: wait) } }
    let new = lasting.filter { wait in !lastingWaits.contains { $0.isSame(as: wait) } }
    (looked, waits, lastingWaits) = (run.time(now), found, lasting)
    return new
  }

  func words(of wait: RunWait) -> String { wait.words(in: run, at: looked) }

  func members(of wait: RunWait) -> [JSONValue.Member] {
    JSONValue.fields(["run": .text(run.beginning?.id)]) + wait.members(in: run, at: looked)
  }

  private mutating func leave(_ device: FleetDevice.ID) { active.removeAll { $0.id == device } }

  // MARK: The block

  /// Returns the present lines, within the given rows and columns.
  mutating func block(rows: Int, columns: Int, at now: Duration) -> [Line] {
    let waits = Array(lastingWaits.prefix(min(Self.waitsMaximum, max(rows - 2, 0))))
    let room = max(rows - 2 - waits.count, 0)
    let fits = active.count <= room
    let shown = active.prefix(fits ? room : max(room - 1, 0))
    let width = min(
      shown.map { VisibleText.escaped($0.device.name).count }.max() ?? 0, Self.nameMaximum)
    let adapter = shown.map { VisibleText.escaped($0.device.adapter).count }.max() ?? 0
    let layout = FleetRowLayout(name: width, adapter: adapter, columns: columns - 1)
    var lines = shown.map { line(of: $0.device, in: layout, at: now) }
    if !fits, room > 0 {
      lines.append("  \(style.ellipsis) and \(active.count - shown.count) more")
    }
    lines += waits.map { "  waiting: \(words(of: $0))" }
    lines.append(summary(at: now, within: columns - 1))
    return lines.map { $0.clipped(to: columns - 1, in: style) }
  }

  private func line(of device: Active, in layout: FleetRowLayout, at now: Duration) -> Line {
    let name = Line(device.name).clipped(to: layout.name, in: style)
    let padding = String(repeating: " ", count: max(layout.name - name.text.count, 0))
    let head: Line = "  \(name)\(padding)  "
    let tail = layout.showsAdapter ? "  \(device.adapter)" : ""
    guard let (meter, from, total) = device.transfer else {
      let gap = layout.stage - device.stage.count
      return head + Line(device.stage + String(repeating: " ", count: max(gap, 0)) + tail)
    }
    let done = meter.acknowledged
    let bar = ProgressBar(width: layout.bar, resumedFrom: from, done: done, total: total)
      .drawn(in: style)
    let percent = Self.right("\(total > 0 ? done * 100 / total : 100)%", FleetRowLayout.percent)
    let rate =
      meter.stalled(at: now).map { "stalled \(Int($0.inSeconds))s" }
      ?? meter.rate(at: now).map { Text.rate($0) } ?? ""
    let progress: Line = "\(bar) \(percent)"
    let shownRate = layout.showsRate ? " " + Self.right(rate, FleetRowLayout.rate) : ""
    return head + progress + Line(shownRate + tail)
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(width - text.count, 0)) + text
  }

  private mutating func summary(at now: Duration, within columns: Int) -> Line {
    let counts = run.waves.reduce(WaveTally(size: run.devices.count)) { $0.adding($1.tally) }
    var parts = ["\(Text.grouped(counts.settled))/\(Text.grouped(run.devices.count)) done"]
    if counts.failed > 0 { parts.append("\(Text.grouped(counts.failed)) failed") }
    if let wave = run.currentWave, run.waves.count > 1 {
      parts.insert("wave \(wave + 1)/\(run.waves.count)", at: 0)
    }
    let rate = pace.rate(at: now).map { Text.rate($0) }
    if let rate { parts.append(rate) }
    switch run.control {
    case .paused(let reason): parts.append("paused: \(reason.name)")
    case .cancelling: parts.append("being cancelled")
    case .running, .ended: parts += pace.estimate(of: run, at: now)
    }
    // A part that does not fit is omitted, the rate first.
    if parts.joined(separator: "  ").count > columns { parts.removeAll { $0 == rate } }
    while parts.count > 1, parts.joined(separator: "  ").count > columns { parts.removeLast() }
    return Line(parts.joined(separator: "  "))
  }
}

extension RunWait {
  /// Returns whether the waits are equal apart from the number of devices.
  fileprivate func isSame(as other: RunWait) -> Bool {
    reason == other.reason && until == other.until
  }
}

extension WaveTally {
  fileprivate func adding(_ other: WaveTally) -> WaveTally {
    var sum = self
    sum.succeeded += other.succeeded
    sum.failed += other.failed
    sum.unseen += other.unseen
    sum.neutral += other.neutral
    return sum
  }
}
#endif
