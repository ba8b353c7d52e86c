import OtaflashConsole
import OtaflashUpdate

/// The output of an update on standard error. The type is pure, so that every line can be tested.
package struct HumanTranscript: Sendable {
  /// An instruction for the terminal.
  package enum Step: Equatable, Sendable {
    /// A permanent line.
    case line(Line)
    /// A line that the next step replaces.
    case transient(Line)
  }

  private enum Transfer {
    case none
    case running(RateMeter, from: Int, total: Int)
  }

  private static let widestBar = 39
  private static let shortestBar = 8
  private static let redrawInterval = Duration.milliseconds(100)
  private static let plainInterval = Duration.seconds(5)
  private static let plainStepPercent = 10
  /// Sizes below this value are shown in bytes, because kilobytes are too coarse.
  private static let kilobytesFrom = 10_000

  private let device: String
  private let progress: OutputSettings.Progress
  private let style: Style
  /// Returns the air limit in bytes per second; `nil` if unknown.
  private let airLimit: @Sendable (LinkReport) -> Double?

  private var link: LinkReport?
  private var ticks: [Line] = []
  private var transfer = Transfer.none
  /// The direction of the transfer.
  private var transferStage = UpdateStage.upload
  private var lastDrawn: Duration?
  private var lastPercent = 0
  private var targetVersion: String?
  /// The last reported bottleneck.
  private var bottleneck: Bottleneck?
  /// Whether fewer bytes are sent than the rate indicates, because the rate counts image bytes.
  private var isShortened = false

  package init(
    device: String, targetVersion: String?, progress: OutputSettings.Progress, style: Style,
    airLimit: @escaping @Sendable (LinkReport) -> Double? = { _ in nil }
  ) {
    self.device = device
    self.targetVersion = targetVersion
    self.progress = progress
    self.style = style
    self.airLimit = airLimit
  }

  package mutating func observe(_ event: UpdateEvent, at now: Duration) -> [Step] {
    switch event {
    case .connecting(let attempt):
      attempt > 1 ? [.line("  connecting again (retry \(attempt - 1))")] : []
    case .connected(let report): connected(report)
    case .device(let report): [.line(headline(report))] + notes(on: report)
    case .stageBegan(let stage): began(stage)
    case .stageEnded(let stage, let took): ended(stage, took, at: now)
    case .transferBegan(let offset, let total, let resumed):
      began(from: offset, total: total, resumed: resumed, at: now)
    case .progress(let acknowledged, _): advanced(to: acknowledged, at: now)
    case .part(let name, let number, let count):
      flushTicks() + (progress == .none ? [] : [.line("  image \(number) of \(count)  \(name)")])
    case .flowing(let stretch): flowing(stretch)
    case .deviceBusy: []
    case .creatingContent:
      progress == .none ? [] : flushTicks() + [.line("  creating a patch or a compressed image")]
    case .delivery(let report): delivering(report)
    case .deliveryGivenUp: givenUp()
    case .rewound(let offset, let reason):
      progress == .plain
        ? [.line("  sending again from \(Text.grouped(offset)) (\(reason.rawValue))")] : []
    case .linkLost(let reason, let acknowledged, let attempt, let retry):
      lost(reason, acknowledged, attempt, retry)
    case .restarted(let reason, let attempt, let retry): restarted(reason, attempt, retry)
    case .finished: finish()
    }
  }

  package mutating func announce(targetVersion: String?) { self.targetVersion = targetVersion }

  /// Redraws the bar for the current time, so that a stall is visible.
  package mutating func tick(at now: Duration) -> [Step] {
    guard progress == .bar, case .running = transfer else { return [] }
    return redraw(at: now)
  }

  // MARK: Transitions

  /// Returns the caution of the report, and a note for a single-slot firmware loader: until the
  /// upload is complete, the device has no application.
  private func notes(on report: DeviceReport) -> [Step] {
    let caution = report.caution.map { [Step.line("  warning: " + $0)] } ?? []
    guard report.isInBootloader, report.smp?.bootloaderMode == .firmwareLoader, progress != .none
    else {
      return caution
    }
    return caution + [
      .line("  the device runs its firmware loader; the application is erased until the upload"),
      .line("  is complete. If the update is interrupted, run the same command again."),
    ]
  }

  private mutating func connected(_ report: LinkReport) -> [Step] {
    link = report
    return []
  }

  private mutating func flowing(_ stretch: TransferStretch) -> [Step] {
    bottleneck = Bottleneck(stretch)
    return []
  }

  private mutating func began(_ stage: UpdateStage) -> [Step] {
    if stage == .upload || stage == .download { transferStage = stage }
    return []
  }

  private mutating func ended(_ stage: UpdateStage, _ took: Duration, at now: Duration) -> [Step] {
    switch (stage, progress) {
    case (_, .none): return []
    case (.upload, .bar), (.download, .bar):
      let last = line(at: now)
      transfer = .none
      return [.line(last), .transient("")]
    case (.upload, .plain), (.download, .plain): transfer = .none
    case (_, .bar), (_, .plain): break
    }
    let mark: Line = "\(style.green(style.tick)) \(stage.rawValue) \(Text.seconds(took))"
    guard progress == .bar else { return [.line("  " + mark)] }
    ticks.append(mark)
    return [.transient("  " + ticks.joined(separator: "   "))]
  }

  private mutating func began(
    from offset: Int, total: Int, resumed: Bool, at now: Duration
  ) -> [Step] {
    transfer = .running(RateMeter(offset: offset, at: now), from: offset, total: total)
    bottleneck = nil
    lastDrawn = nil
    lastPercent = percent(offset, of: total)
    if resumed {
      let words = offset == total ? "already complete" : "resume from \(Text.grouped(offset))"
      ticks.append("\(style.green(style.tick)) \(words)")
    }
    switch progress {
    case .none: return []
    case .bar: return flushTicks() + redraw(at: now)
    case .plain:
      lastDrawn = now
      let resume: [Line] = resumed ? ["  " + (ticks.popLast() ?? "")] : []
      return (resume + [line(at: now)]).map { .line($0) }
    }
  }

  private mutating func advanced(to acknowledged: Int, at now: Duration) -> [Step] {
    guard case .running(var meter, let from, let total) = transfer else { return [] }
    meter.acknowledge(acknowledged, at: now)
    transfer = .running(meter, from: from, total: total)
    switch progress {
    case .none: return []
    case .bar: return redraw(at: now)
    case .plain: return plainStep(acknowledged, of: total, at: now)
    }
  }

  /// Returns a line every 10 % or every 5 s, whichever is later.
  private mutating func plainStep(_ done: Int, of total: Int, at now: Duration) -> [Step] {
    let percent = percent(done, of: total)
    guard percent - lastPercent >= Self.plainStepPercent,
      lastDrawn.map({ now - $0 >= Self.plainInterval }) ?? true
    else { return [] }
    lastPercent = percent
    lastDrawn = now
    return [.line(line(at: now))]
  }

  private mutating func redraw(at now: Duration) -> [Step] {
    if let lastDrawn, now - lastDrawn < Self.redrawInterval { return [] }
    lastDrawn = now
    return [.transient(line(at: now))]
  }

  private mutating func lost(
    _ reason: String, _ acknowledged: Int, _ attempt: Int, _ retry: Duration
  ) -> [Step] {
    transfer = .none
    let cause = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    return flushTicks() + [
      .line(
        """
          link lost at \(Text.grouped(acknowledged)): \(cause); \
        retry \(attempt) in \(Text.seconds(retry))
        """)
    ]
  }

  private mutating func restarted(
    _ reason: String, _ attempt: Int, _ retry: Duration
  ) -> [Step] {
    transfer = .none
    return flushTicks() + [
      .line(
        "  the device was restarted because \(reason); retry \(attempt) in \(Text.seconds(retry))")
    ]
  }

  private mutating func delivering(_ report: DeliveryReport) -> [Step] {
    isShortened = report.isShortened
    return progress == .none ? [] : flushTicks() + [.line("  " + Line(report.sentence))]
  }

  /// Returns the line of the completed stages. The next event reports the new content and the
  /// reason.
  private mutating func givenUp() -> [Step] {
    transfer = .none
    return flushTicks()
  }

  private mutating func finish() -> [Step] {
    transfer = .none
    return flushTicks()
  }

  private mutating func flushTicks() -> [Step] {
    defer { ticks = [] }
    return ticks.isEmpty ? [] : [.line("  " + ticks.joined(separator: "   "))]
  }

  // MARK: Lines

  private func headline(_ report: DeviceReport) -> Line {
    let running = report.runningName ?? "version unknown"
    let change = targetVersion.map { "\(running) \(style.arrow) \($0)" } ?? running
    let facts = link.map { "   " + Self.facts($0, in: style) } ?? ""
    return "\(style.bold(device))  \(change)\(facts)"
  }

  package static func facts(_ link: LinkReport, in style: Style) -> String {
    let interval = link.intervalMilliseconds.map { Text.decimal($0) + " ms" }
    return ["MTU \(link.mtu)", link.phy?.rawValue, interval].compactMap { $0 }
      .joined(separator: style.separator)
  }

  private static func amount(_ done: Int, of total: Int) -> String {
    total < kilobytesFrom
      ? "\(Text.grouped(done))/\(Text.grouped(total)) B" : "\(done / 1000)/\(total / 1000) kB"
  }

  private func percent(_ done: Int, of total: Int) -> Int { total > 0 ? done * 100 / total : 100 }

  private func line(at now: Duration) -> Line {
    guard case .running(let meter, let from, let total) = transfer else { return "" }
    let done = meter.acknowledged
    var parts = ["\(percent(done, of: total))%", Self.amount(done, of: total)]
    if let rate = meter.rate(at: now) {
      parts.append(Text.rate(rate))
      if !isShortened, let limit = link.flatMap(airLimit), limit > 0 {
        parts.append("\(Int((rate / limit * 100).rounded()))% of the air limit")
      }
    }
    if let stalled = meter.stalled(at: now) {
      parts.append("stalled \(Int(stalled.inSeconds))s")
    } else if done < total, let remaining = meter.remaining(of: total) {
      parts.append("ETA \(Text.clock(remaining))")
    }
    let cause = bottleneck.map { "  limited by \($0.short)" } ?? ""
    let name = transferStage.rawValue
    guard progress == .bar else { return "  \(name)  \(parts.joined(separator: "  "))\(cause)" }
    func width(of tail: String) -> Int {
      min(Self.widestBar, style.columns - tail.count - name.count - 7)
    }
    let short = parts.joined(separator: "  ")
    let tail = width(of: short + cause) >= Self.shortestBar ? short + cause : short
    let width = width(of: tail)
    guard width >= Self.shortestBar else { return "  \(name)  \(tail)" }
    let bar = ProgressBar(width: width, resumedFrom: from, done: done, total: total)
    return "  \(name)  \(bar.drawn(in: style))  \(tail)"
  }
}
