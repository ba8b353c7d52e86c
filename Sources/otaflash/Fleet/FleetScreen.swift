#if Fleet
import OtaflashConsole
import OtaflashFleet
import OtaflashFleetReport
import OtaflashUpdate

/// The display of a run: a line for each active device, a summary line, and permanent lines.
/// Pure, so that every line can be tested.
struct FleetScreen: Sendable {
  /// A device with an update in progress.
  private struct Active {
    let name: String
    let adapter: String
    var stage = "waiting"
    var transfer: (meter: RateMeter, from: Int, total: Int)?
  }

  /// The number of settled devices from which the remaining time is estimated.
  private static let settledToTell = 3
  private static let nameMaximum = 24
  private static let barWidth = 20
  /// The number of waits to show at a time.
  private static let waitsMaximum = 3

  private let style: Style
  /// Whether successful devices get permanent lines: if there is no block.
  private let tellsSuccesses: Bool
  /// The waves' soak times, in their order.
  private let soaks: [Duration]
  private var run = FleetRun()
  private var active: [(id: FleetDevice.ID, device: Active)] = []
  /// The start of the display, and the number of devices settled at that time.
  private var start: (at: Duration, settled: Int)?
  private var bytes = 0
  /// The last look at the run, all its waits, and those that the look before had seen, too.
  private var looked = WallClockTime(milliseconds: 0)
  private var waits: [RunWait] = []
  private var lastingWaits: [RunWait] = []
  private var lastRate: (at: Duration, bytes: Int, rate: Double)?

  init(style: Style, tellsSuccesses: Bool, soaks: [Duration]) {
    self.style = style
    self.tellsSuccesses = tellsSuccesses
    self.soaks = soaks
  }

  // MARK: Events

  /// Adds recorded events, and returns their permanent lines.
  mutating func observe(_ events: [FleetEvent], _ run: FleetRun, at now: Duration) -> [Line] {
    self.run = run
    if start == nil { start = (now, run.settledCount) }
    return events.compactMap { line(for: $0) }
  }

  mutating func observe(_ event: UpdateEvent, of device: FleetDevice.ID, at now: Duration) {
    guard let place = active.firstIndex(where: { $0.id == device }) else { return }
    switch event {
    case .stageBegan(let stage): active[place].device.stage = stage.rawValue
    case .transferBegan(let offset, let total, _):
      active[place].device.transfer = (RateMeter(offset: offset, at: now), offset, total)
    case .progress(let acknowledged, _):
      guard var transfer = active[place].device.transfer else { return }
      bytes += max(acknowledged - transfer.meter.acknowledged, 0)
      transfer.meter.acknowledge(acknowledged, at: now)
      active[place].device.transfer = transfer
    case .stageEnded(.upload, _), .restarted, .patchGivenUp: active[place].device.transfer = nil
    case .makingPatch: active[place].device.stage = "creating a patch"
    case .linkLost:
      active[place].device.transfer = nil
      active[place].device.stage = "link lost"
    case .connecting, .connected, .device, .stageEnded, .part, .deviceBusy, .rewound, .finished,
      .delivery, .flowing:
      break
    }
  }

  /// Updates the waits of the run. Most waits are short, so only those that the last look has seen,
  /// too, are shown.
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

  private mutating func line(for event: FleetEvent) -> Line? {
    switch event {
    case .devicePlaced(let device, _, let adapter):
      leave(device)
      active.append((device, Active(name: name(of: device), adapter: adapter)))
      return nil
    case .attemptEnded(let device, _, _), .claimExpired(let device, _):
      leave(device)
      return nil
    case .deviceSettled(let device, let ending): return settled(device, ending)
    case .waveBegan(let wave):
      return "\(style.bold("wave \(wave + 1) of \(run.waves.count)"))  \(waveWords(wave))"
    case .waveSoaking(let wave, let until):
      return "wave \(wave + 1) is done; its verdict follows at \(until.text)"
    case .waveJudged(let wave, let verdict): return judged(wave, verdict)
    case .approvalAwaited(let wave):
      return "wave \(wave + 1) waits for approval: otaflash fleet resume \(run.beginning?.id ?? "")"
    case .operatorActed(let action): return Line(action.words)
    case .runPaused(let reason): return "paused: \(reason.sentence)"
    case .runResumed: return "resumed"
    case .runCancelled: return "cancelled: updates in progress end at a safe point"
    case .waveHookEnded(_, let point, let outcome) where !outcome.isSuccess:
      return "note: hook \(point.rawValue) \(outcome.words)"
    case .deviceHookEnded(let device, _, let point, let outcome) where !outcome.isSuccess:
      return "note: hook \(point.rawValue) of \(name(of: device)) \(outcome.words)"
    case .runBegan, .wavePlanned, .waveHookBegan, .waveHookEnded, .devicePublished, .deviceClaimed,
      .transferBegan, .deviceNotInRange, .outcomeReportedLate, .deviceActivating, .deviceHookEnded,
      .deviceDeferred, .deviceRetried, .waveApproved,
      .runEnded:
      return nil
    }
  }

  private func waveWords(_ wave: Int) -> String {
    "\(run.waves[wave].name), " + Text.counted(run.waves[wave].devices.count, "device")
  }

  private func judged(_ wave: Int, _ verdict: WaveVerdict) -> Line? {
    let tally = run.waves[wave].tally
    return switch verdict {
    case .continue: tellsSuccesses ? "wave \(wave + 1) passed: \(tally.words)" : nil
    case .stop: "\(style.red("stopped")): \(tally.words) in wave \(wave + 1)"
    case .inconclusive: "wave \(wave + 1) cannot be judged: \(tally.words)"
    }
  }

  private func settled(_ device: FleetDevice.ID, _ ending: DeviceEnding) -> Line? {
    guard ending.count != .succeeded else {
      guard tellsSuccesses else { return nil }
      let runs = run[device]?.runs?.description ?? "the image"
      let change = ending == .current ? "  already runs it" : "  runs \(runs)"
      return "  \(style.green(style.tick)) \(name(of: device))\(change)"
    }
    return "  \(style.red(ending.name)) \(name(of: device)): \(ending.words ?? "")"
  }

  private mutating func leave(_ device: FleetDevice.ID) { active.removeAll { $0.id == device } }

  private func name(of device: FleetDevice.ID) -> String { run[device]?.device.name ?? device }

  // MARK: The block

  /// Returns the present lines, within the given rows and columns.
  mutating func block(rows: Int, columns: Int, at now: Duration) -> [Line] {
    let waits = Array(lastingWaits.prefix(min(Self.waitsMaximum, max(rows - 2, 0))))
    let room = max(rows - 2 - waits.count, 0)
    let fits = active.count <= room
    let shown = active.prefix(fits ? room : max(room - 1, 0))
    let width = min(
      shown.map { VisibleText.escaped($0.device.name).count }.max() ?? 0, Self.nameMaximum)
    var lines = shown.map { line(of: $0.device, nameWidth: width, at: now) }
    if !fits, room > 0 {
      lines.append("  \(style.ellipsis) and \(active.count - shown.count) more")
    }
    lines += waits.map { "  waiting: \(words(of: $0))" }
    lines.append(summary(at: now))
    return lines.map { $0.clipped(to: columns - 1, in: style) }
  }

  private func line(of device: Active, nameWidth: Int, at now: Duration) -> Line {
    let name = Line(device.name).clipped(to: nameWidth, in: style)
    let padding = String(repeating: " ", count: max(nameWidth - name.text.count, 0))
    let head: Line = "  \(name)\(padding)  "
    guard let (meter, from, total) = device.transfer else {
      let stage =
        device.stage + String(repeating: " ", count: max(Self.barWidth - device.stage.count, 0))
      return head + "\(stage)                    \(device.adapter)"
    }
    let done = meter.acknowledged
    let bar = ProgressBar(width: Self.barWidth, resumedFrom: from, done: done, total: total)
      .drawn(in: style)
    let percent = Self.right("\(total > 0 ? done * 100 / total : 100)%", 4)
    let rate = Self.right(
      meter.stalled(at: now).map { "stalled \(Int($0.inSeconds))s" }
        ?? meter.rate(at: now).map { Text.rate($0) } ?? "", 12)
    return head + "\(bar) \(percent) \(rate)  \(device.adapter)"
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(width - text.count, 0)) + text
  }

  private mutating func summary(at now: Duration) -> Line {
    let counts = run.waves.reduce(WaveTally(size: run.devices.count)) { $0.adding($1.tally) }
    var parts = ["\(Text.grouped(counts.settled))/\(Text.grouped(run.devices.count)) done"]
    if counts.failed > 0 { parts.append("\(Text.grouped(counts.failed)) failed") }
    if let wave = run.currentWave, run.waves.count > 1 {
      parts.insert("wave \(wave + 1)/\(run.waves.count)", at: 0)
    }
    if let rate = rate(at: now) { parts.append(Text.rate(rate)) }
    switch run.control {
    case .paused(let reason): parts.append("paused: \(reason.name)")
    case .cancelling: parts.append("being cancelled")
    case .running, .ended: parts += estimate(at: now)
    }
    return Line(parts.joined(separator: "  "))
  }

  /// Returns the rate of all transfers together over the last seconds.
  private mutating func rate(at now: Duration) -> Double? {
    guard let last = lastRate else {
      lastRate = (now, bytes, 0)
      return nil
    }
    let seconds = (now - last.at).inSeconds
    guard seconds >= 2 else { return last.rate > 0 ? last.rate : nil }
    let rate = Double(bytes - last.bytes) / seconds
    lastRate = (now, bytes, rate)
    return rate > 0 ? rate : nil
  }

  /// Estimates the remaining time from the rate at which devices were settled.
  private func estimate(at now: Duration) -> [String] {
    guard let start, let wave = run.currentWave else { return [] }
    let settled = run.settledCount - start.settled
    guard settled >= Self.settledToTell, now > start.at else { return [] }
    let each = (now - start.at) / settled
    let ofWave = run.waves[wave].devices.count - run.waves[wave].tally.settled
    let ofAll = run.devices.count - run.settledCount
    let soak = soaks.dropFirst(wave).reduce(.zero, +)
    let all = "ETA \(Text.clock(each * ofAll + soak))"
    return run.waves.count > 1 && wave < run.waves.count - 1
      ? ["wave \(Text.clock(each * ofWave))", all] : [all]
  }
}

extension RunWait {
  /// Whether the waits are equal apart from the number of devices.
  fileprivate func isSame(as other: RunWait) -> Bool {
    reason == other.reason && until == other.until
  }
}

extension FleetRun {
  var settledCount: Int { waves.reduce(0) { $0 + $1.tally.settled } }
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

  /// `38 of 40 done, 2 failed`
  var words: String {
    let others = [(failed, "failed"), (unseen, "not found"), (neutral, "skipped")]
      .filter { $0.0 > 0 }.map { "\(Text.grouped($0.0)) \($0.1)" }
    return (["\(Text.grouped(succeeded)) of \(Text.grouped(size)) done"] + others)
      .joined(separator: ", ")
  }
}

extension PauseReason {
  /// A clause.
  var sentence: String {
    switch self {
    case .asked: "an operator asked for it"
    case .infrastructure(let failures, let words):
      "\(failures) attempts in a row failed on the host, the last because \(words)"
    case .noAdapter: "there is no adapter; the run continues when an adapter is back"
    case .inconclusive(let wave): "too few devices of wave \(wave + 1) were seen"
    case .failureLimit(let wave):
      "wave \(wave + 1) reached its failure limit; resuming accepts the failures so far"
    case .hook(_, let point, let words): "the hook \(point.rawValue) \(words)"
    }
  }
}
#endif
