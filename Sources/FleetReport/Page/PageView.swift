#if Fleet
import OtaflashATT
import OtaflashFleet
import OtaflashNumerals

/// The values for the template.
struct PageView {
  private static let namesMaximum = 10

  let report: RunReport
  let surroundings: ReportSurroundings

  private var zone: ZoneOffsets { surroundings.zone }

  var values: PageValues {
    let gantt = GanttChart(report: report, scale: scale, zone: zone)
    let (sign, look) = report.state.sign
    var values: PageValues = [
      "policy": HTMLReport.policy, "style": PageStyle.text, "script": PageScript.text,
      "campaign": DeviceRows.cut(report.beginning.campaign), "headline": report.headline,
      "runID": DeviceRows.cut(report.beginning.id), "stateSign": sign, "stateClass": look,
      "stateWords": DeviceRows.cut(report.stateWords), "when": when,
      "bar": OutcomeBar.values(report.counts), "facts": facts,
      "waves": report.waves.map(wave), "zoneName": surroundings.zoneName,
      "table": DeviceRows(report: report, zone: zone).values,
      "eventCount": Figures.counted(report.events, "event"),
      "program": surroundings.program, "written": moment(surroundings.written),
    ]
    values.merge(failures) { $1 }
    if !report.pauses.isEmpty {
      values["hasPauses"] = true
      values["pauses"] = report.pauses.map(pause)
    }
    if !report.operators.isEmpty {
      values["hasOperators"] = true
      values["operators"] = report.operators.map(words(of:))
    }
    if let settings = report.beginning.settings {
      values["hasOptions"] = true
      values["options"] = settings.map {
        ["term": DeviceRows.cut($0.name), "text": VisibleWords.escaped($0.words, limit: 400)]
          as PageValues
      }
    }
    if !report.adapters.isEmpty { values["gantt"] = gantt.values }
    if !report.throughput.transfers.isEmpty {
      var chart = ThroughputChart(report: report, gantt: gantt, air: surroundings.air).values
      let uncounted = report.throughput.untold
      if uncounted > 0 {
        chart["uncounted"] =
          "The estimate excludes \(Figures.counted(uncounted, "attempt")) without a byte count."
      }
      values["throughput"] = chart
    }
    if let chain = surroundings.chain {
      values["chain"] =
        [
          "head": chain.head.map { Numerals.hex($0) }.joined(),
          "chainCount": Numerals.grouped(chain.events),
        ] as PageValues
    }
    if let verification = surroundings.verification { values["verification"] = verification }
    return values
  }

  private var scale: TimeScale {
    TimeScale(
      busy: report.adapters.flatMap(\.busy), whole: report.began..<max(report.began, report.last),
      left: GanttChart.left, width: GanttChart.width - GanttChart.left)
  }

  // MARK: Times

  /// Returns a time as text, such as `22 Nov 2026, 14:05`, with the name of the time zone.
  private func moment(_ time: WallClockTime) -> String {
    let calendar = CalendarTime(time, in: zone)
    return "\(calendar.dayWords), \(calendar.minutes) \(surroundings.zoneName)"
  }

  /// Returns a time span as text; a date that is equal at both ends is omitted.
  private func span(_ from: WallClockTime, _ until: WallClockTime) -> String {
    let (first, last) = (CalendarTime(from, in: zone), CalendarTime(until, in: zone))
    return first.date == last.date
      ? "\(first.clock) to \(last.clock)"
      : "\(first.dayWords), \(first.minutes) to \(last.dayWords), \(last.minutes)"
  }

  private var when: String {
    let took = Figures.duration(report.milliseconds)
    let day = CalendarTime(report.began, in: zone)
    if case .ended = report.state {
      let end = CalendarTime(report.last, in: zone)
      guard report.milliseconds >= 120_000 || end.date != day.date else {
        return "\(day.dayWords), \(day.clock) to \(end.clock) \(surroundings.zoneName), \(took)"
      }
      let until = end.date == day.date ? end.minutes : "\(end.dayWords), \(end.minutes)"
      return "\(day.dayWords), \(day.minutes) to \(until) \(surroundings.zoneName), \(took)"
    }
    return "since \(moment(report.began)), \(took); as of "
      + "\(CalendarTime(report.last, in: zone).clock)"
  }

  // MARK: Facts

  private var facts: [PageValues] {
    let beginning = report.beginning
    var facts: [(String, String)] = []
    for image in beginning.images ?? [] {
      let version = image.version.map { ", version \($0)" } ?? ""
      let size = image.size.map { ", \(Figures.size($0))" } ?? ""
      facts.append(("Image", DeviceRows.cut(image.name) + DeviceRows.cut(version) + size))
      if let sha256 = image.sha256 { facts.append(("SHA-256 of the image", sha256)) }
    }
    facts.append(
      (
        "Devices",
        "\(Numerals.grouped(report.devices.count)) in "
          + Figures.counted(report.waves.count, "wave")
      ))
    if let person = beginning.startedBy { facts.append(("Started by", DeviceRows.cut(person))) }
    facts.append(("Started", moment(report.began)))
    if case .ended = report.state { facts.append(("Ended", moment(report.last))) }
    let names = report.adapters.prefix(6).map { DeviceRows.cut($0.name) }
    if !names.isEmpty {
      let more = report.adapters.count - names.count
      facts.append(
        ("Adapters", names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")))
    }
    let attempts = report.devices.reduce(0) { $0 + $1.attempts.count }
    if attempts > 0 { facts.append(("Attempts", Numerals.grouped(attempts))) }
    let rates = report.devices.compactMap { $0.figures?.bytesPerSecond }.sorted()
    if !rates.isEmpty {
      facts.append(
        (
          "Rate per device",
          "\(Figures.rate(rates[rates.count / 2])) (median), "
            + "\(Figures.rate(rates[0])) to \(Figures.rate(rates[rates.count - 1]))"
        ))
    }
    if let savings = report.savings { facts.append(("Bytes saved", savings.words)) }
    if let words = report.grades.words { facts.append(("Verified by (weakest last)", words)) }
    facts += inForce + files
    return facts.map { ["term": $0.0, "text": $0.1] }
  }

  /// The options that make a campaign less strict, and the commands of its hooks.
  private var inForce: [(String, String)] {
    (report.beginning.settings ?? []).filter {
      $0.name == "overrides" || $0.name.hasPrefix("hook ")
    }
    .map { setting in
      let name = DeviceRows.cut(setting.name)
      return (
        name.prefix(1).uppercased() + name.dropFirst(),
        VisibleWords.escaped(setting.words, limit: 400)
      )
    }
  }

  private var files: [(String, String)] {
    (report.beginning.files ?? []).map { file in
      let hash = file.sha256.map { "SHA-256 \($0)" } ?? "no hash"
      let words = file.role == .deviceKey ? "secret: no hash is recorded" : hash
      return (file.role.title, "\(DeviceRows.cut(file.name)), \(words)")
    }
  }

  private func words(of report: OperatorRecord) -> String {
    "\(moment(report.at)): " + VisibleWords.escaped(report.action.words, limit: 700)
  }

  // MARK: Waves

  private func wave(_ wave: WaveReport) -> PageValues {
    let (sign, look) = wave.sign
    var values: PageValues = [
      "waveName": DeviceRows.cut(wave.name), "verdict": DeviceRows.cut(wave.verdictWords),
      "verdictSign": sign,
      "verdictClass": look, "waveBar": OutcomeBar.values(wave.counts), "waveTimes": times(of: wave),
    ]
    if let rule = wave.ruleWords { values["rule"] = rule }
    return values
  }

  private func times(of wave: WaveReport) -> String {
    guard let began = wave.times.began else { return "Not started." }
    var words: [String] = []
    let settled = report.devices[wave.devices].compactMap(\.settled).max()
    if wave.counts[.running] + wave.counts[.waiting] == 0, let settled {
      words.append(
        "\(span(began, settled)), \(Figures.duration(settled.milliseconds - began.milliseconds))")
    } else {
      words.append("Since \(CalendarTime(began, in: zone).clock)")
    }
    if let from = wave.times.soakBegan, let judged = wave.times.judged, judged >= from {
      words.append("soaked \(Figures.duration(judged.milliseconds - from.milliseconds))")
    } else if let until = wave.times.soakUntil {
      words.append("soaks until \(CalendarTime(until, in: zone).clock)")
    }
    if let approved = wave.times.approved {
      let by = wave.times.approvedBy.map { action in
        " by " + VisibleWords.escaped(action.by, limit: 100)
          + (action.reason.map { " (\(VisibleWords.escaped($0, limit: 500)))" } ?? "")
      }
      words.append("approved at \(CalendarTime(approved, in: zone).clock)" + (by ?? ""))
    } else if let asked = wave.times.approvalAsked {
      words.append("waiting for approval since \(CalendarTime(asked, in: zone).clock)")
    }
    return words.joined(separator: "; ") + "."
  }

  private func pause(_ pause: PauseRecord) -> String {
    let reason = DeviceRows.cut(report.words(of: pause.reason))
    guard let until = pause.until else {
      return "Since \(CalendarTime(pause.from, in: zone).clock): \(reason)."
    }
    let took = Figures.duration(until.milliseconds - pause.from.milliseconds)
    return "\(span(pause.from, until)), \(took): \(reason)."
  }

  // MARK: Failures

  private var failures: PageValues {
    let ended = report.failures.filter { !$0.devices.isEmpty }
    let overcome = report.failures.filter { $0.overcome > 0 }
    var values: PageValues = [
      "failures": ended.map(failure), "hasFailures": !ended.isEmpty,
      "noFailures": report.counts[.succeeded] == report.counts.total
        ? "None: all devices run their image." : "None so far.",
    ]
    if !overcome.isEmpty {
      values["hasOvercome"] = true
      values["overcome"] = overcome.map { group -> String in
        let isOne = group.overcome == 1
        return
          "\(DeviceRows.cut(group.cause.title)): on "
          + "\(Figures.counted(group.overcome, "device")) "
          + "that \(isOne ? "was" : "were") updated nevertheless."
      }
    }
    return values
  }

  private func failure(_ group: FailureGroup) -> PageValues {
    let names = group.devices.prefix(Self.namesMaximum).map {
      VisibleWords.escaped(report.devices[$0].label, limit: 40)
    }
    var values: PageValues = [
      "causeTitle": DeviceRows.cut(group.cause.title), "remedy": group.cause.remedy,
      "causeCount": Figures.counted(group.devices.count, "device"), "names": names,
      "causeClass": group.cause.kind.rawValue,
    ]
    let more = group.devices.count - names.count
    if more > 0 { values["more"] = "and \(Numerals.grouped(more)) more" }
    return values
  }
}

extension RunFile.Role {
  fileprivate var title: String {
    switch self {
    case .campaign: "Campaign file"
    case .devices: "Device table"
    case .key: "Image signing key (public)"
    case .deviceKey: "Device key"
    case .hook: "Hook program"
    }
  }
}

extension RunReport.State {
  /// The sign of the run's state, and its CSS class.
  package var sign: (String, String) {
    switch self {
    case .running, .cancelling: ("▸", "open")
    case .paused: ("‖", "wait")
    case .awaitingApproval: ("?", "wait")
    case .ended(.complete(failed: 0)): ("✓", "good")
    case .ended(.complete): ("✓", "wait")
    case .ended(.stopped): ("✕", "bad")
    case .ended(.cancelled): ("–", "off")
    }
  }
}

extension WaveReport {
  /// The sign of the wave's state, and its CSS class.
  package var sign: (String, String) {
    switch (phase, verdict) {
    case (.planned, _): ("…", "off")
    case (_, .stop): ("✕", "bad")
    case (_, .inconclusive): ("?", "wait")
    case (.awaitingApproval, _): ("?", "wait")
    case (_, .continue): ("✓", "good")
    case (.open, nil), (.soaking, nil): ("▸", "open")
    case (.judged, nil), (.passed, nil): ("–", "off")
    }
  }
}
#endif
