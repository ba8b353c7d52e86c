#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// The page of a run. When the run changes, the live parts are also sent to open pages.
struct RunView: Sendable {
  private static let namedMaximum = 10
  private static let activeMaximum = 20

  let id: String
  let role: AccountRole
  private let title: String
  private let kicker: HTML
  private let facts: HTML
  private let operators: HTML
  private let state: HTML
  private let actions: HTML
  private let bar: HTML
  private let chart: HTML
  private let waves: HTML
  private let causes: HTML
  private let active: HTML

  init(
    _ index: inout RunIndex, role: AccountRole, transfers: [TransferState],
    gateways: [GatewayState], at now: WallClockTime
  ) {
    let beginning = index.run.beginning
    let id = beginning?.id ?? ""
    self.id = id
    self.role = role
    title = beginning?.campaign ?? id
    let person = beginning?.startedBy ?? "an unknown user"
    kicker = """
      Run \(cut: id), started by \(cut: person), \(time: index.run.beganAt ?? now) UTC
      """
    let path = "/runs/" + Address.encoded(id)
    state = Self.state(&index, gateways, at: now)
    actions = role >= .op ? Self.actions(index.actions, path) : ""
    bar = Elements.bar(index.counts, height: 26, link: path + "/devices")
    chart = RunChart(index).html
    waves = HTML(zip(index.waves, 1...).map { Self.wave($0, number: $1, path) })
    causes = Self.causes(index)
    active = Self.active(index, transfers, path)
    operators = Self.operators(index.run.operators)
    facts = Self.facts(beginning, devices: index.deviceCount)
  }

  func page(for user: PageUser, hasEnded: Bool) -> HTML {
    let path = "/runs/" + Address.encoded(id)
    let frame = PageFrame(
      title: title, section: .runs, user: user, stream: hasEnded ? nil : path + "/events")
    return frame.page(
      """
      <p class="kicker">\(kicker)</p>
      <h1><bdi>\(cut: title)</bdi></h1>
      \(liveParts)
      <section aria-labelledby="facts"><h2 id="facts">Campaign</h2>
      \(facts)
      </section>
      <section aria-labelledby="report"><h2 id="report">Report</h2>
      <p>The report contains every device and attempt.</p>
      <ul class="links">
      <li><a href="\(path)/report">Open the report</a></li>
      <li><a href="\(path)/report.html" download>Download (HTML)</a></li>
      <li><a href="\(path)/report.csv" download>Table (CSV)</a></li>
      <li><a href="\(path)/report.xml" download>Test results (JUnit)</a></li>
      </ul></section>

      """)
  }

  /// The parts of the page that change while the run progresses.
  var liveParts: HTML {
    let path = "/runs/" + Address.encoded(id)
    return """
      <div role="status">\(LivePart.html("run-state", state))</div>
      \(LivePart.html("run-actions", actions))\
      \(LivePart.html("run-bar", bar))\
      <p><a href="\(path)/devices">All devices of the run</a></p>
      <section aria-labelledby="progress"><h2 id="progress">Progress</h2>
      \(LivePart.html("run-chart", chart))</section>
      <section aria-labelledby="waves"><h2 id="waves">Waves</h2>
      \(LivePart.html("run-waves", "<ol class=\"waves\">\n\(waves)</ol>"))</section>
      <section aria-labelledby="active"><h2 id="active">In progress</h2>
      \(LivePart.html("run-active", active))</section>
      <section aria-labelledby="causes"><h2 id="causes">Failures</h2>
      \(LivePart.html("run-causes", causes))</section>
      <section aria-labelledby="operators"><h2 id="operators">Commands of operators</h2>
      \(LivePart.html("run-operators", operators))</section>
      """
  }

  // MARK: Parts

  /// Returns the sites of a run in progress whose devices wait because no gateway is running.
  private static func silentSites(
    _ index: borrowing RunIndex, _ gateways: [GatewayState]
  ) -> [String] {
    guard !index.hasEnded else { return [] }
    return index.sites.filter { site in !gateways.contains { $0.site == site && $0.isRunning } }
  }

  private static func state(
    _ index: inout RunIndex, _ gateways: [GatewayState], at now: WallClockTime
  ) -> HTML {
    let waits = index.waits(at: now)
    let silent = silentSites(index, gateways).map { site -> HTML in
      "<li>site <bdi>\(cut: site)</bdi> has no running gateway</li>\n"
    }
    let list =
      waits.map { wait -> HTML in "<li>\(wait.words(in: index.run, at: now))</li>\n" } + silent
    let reasons: HTML =
      list.isEmpty
      ? "" : "<p class=\"waits\">The run waits:</p>\n<ul class=\"plain\">\n\(list)</ul>\n"
    return """
      <p class="state">\(Elements.badge(index.state.sign, index.stateWords)) \
      <span class="when">\(grouped: index.run.settledCount) of \(grouped: index.deviceCount) \
      devices have an outcome; last event \(time: index.run.lastAt)</span></p>
      \(reasons)
      """
  }

  private static func actions(_ actions: [RunAction], _ path: String) -> HTML {
    guard !actions.isEmpty else { return "" }
    let links = actions.map { action -> HTML in
      """
      <li><a class="button \(action.rawValue)" href="\(path)/\(action.rawValue)">\(action.label)…\
      </a></li>

      """
    }
    return "<ul class=\"actions\" aria-label=\"Commands\">\n\(links)</ul>\n"
  }

  private static func wave(_ wave: WaveReport, number: Int, _ path: String) -> HTML {
    let rule: HTML = wave.ruleWords.map { "<p class=\"small\">\($0)</p>" } ?? ""
    let (sign, look) = wave.sign
    return """
      <li><div class="wave"><h3><a href="\(path)/devices?wave=\(number)"><bdi>\(cut: wave.name)\
      </bdi></a></h3> <span class="verdict \(look)"><span aria-hidden="true">\(sign)</span>\
      \(wave.verdictWords)</span></div>
      \(Elements.bar(wave.counts, height: 14))\
      <p class="summary">\(OutcomeBar.summary(wave.counts))</p>\(rule)</li>

      """
  }

  private static func causes(_ index: RunIndex) -> HTML {
    let causes = index.causes.sorted { ($1.value, $0.key.code) < ($0.value, $1.key.code) }
    guard !causes.isEmpty else { return "<p class=\"small\">None.</p>" }
    let items = causes.prefix(namedMaximum).map { cause, count -> HTML in
      """
      <li class="\(cause.kind.rawValue)"><p class="number">\(Figures.counted(count, "device"))</p>
      <h3>\(cut: cause.title)</h3><p class="small">\(cause.remedy)</p></li>

      """
    }
    return "<ul class=\"causes\">\n\(items)</ul>\n"
  }

  private static func active(
    _ index: RunIndex, _ transfers: [TransferState], _ path: String
  ) -> HTML {
    let progress = Dictionary(
      transfers.filter { $0.progress.job.run == index.run.beginning?.id }
        .map { ($0.progress.job.device, $0.progress) }
    ) { $1 }
    let rows = index.runningDevices(limit: activeMaximum).map { device -> HTML in
      let attempt = device.attempts.last
      return """
        <tr><th scope="row"><a href="\(path)/devices/\(path: device.device.id)">\
        <bdi>\(cut: device.label)</bdi></a></th>\
        <td>\(cut: attempt?.worker ?? "")</td><td>\(cut: device.adapter ?? "")</td>\
        <td class="r">\(attempt?.number ?? 0)</td><td>\(bar(progress[device.device.id]))</td></tr>

        """
    }
    let left = index.counts[.running] - rows.count
    let more: HTML = left > 0 ? "<p class=\"small\">and \(grouped: left) more</p>\n" : ""
    return """
      \(Elements.table(
        "Devices in progress",
        head: Elements.heads("Device", "Gateway", "Adapter", "Attempt", "Transfer"), rows: rows))\
      \(more)
      """
  }

  private static func bar(_ progress: JobProgress?) -> HTML {
    guard let progress, progress.total > 0 else { return "" }
    let percent = progress.bytes * 100 / progress.total
    return """
      <progress max="100" value="\(percent)" aria-label="Transfer"></progress> \(percent) %
      """
  }

  private static func operators(_ records: [OperatorRecord]) -> HTML {
    let rows = records.reversed().map { record -> HTML in
      """
      <tr><td>\(time: record.at)</td><td>\(record.action.kind.rawValue)</td>\
      <td><bdi>\(cut: record.action.by)</bdi></td>\
      <td><bdi>\(record.action.reason ?? "")</bdi></td></tr>

      """
    }
    return Elements.table(
      "Commands of operators", head: Elements.heads("Time (UTC)", "Command", "Operator", "Reason"),
      rows: rows)
  }

  private static func facts(_ beginning: RunBeginning?, devices: Int) -> HTML {
    var facts: [(String, HTML)] = [("Devices", "\(grouped: devices)")]
    for image in beginning?.images ?? [] {
      let version = image.version.map { ", version \($0)" } ?? ""
      let size = image.size.map { ", \(Figures.size($0))" } ?? ""
      facts.append(("Image", "<bdi>\(cut: image.name)</bdi>\(cut: version)\(size)"))
      if let sha256 = image.sha256 {
        facts.append(("SHA-256 of the image", "<code>\(sha256)</code>"))
      }
    }
    let settings = (beginning?.settings ?? []).map { setting -> (String, HTML) in
      (setting.name, "<bdi>\(VisibleWords.escaped(setting.words, limit: 400))</bdi>")
    }
    let options: HTML =
      settings.isEmpty
      ? ""
      : """
      <details class="options"><summary>All options of the campaign</summary>
      \(Elements.facts(settings))</details>

      """
    return "\(Elements.facts(facts))\(options)"
  }
}

extension RunAction {
  /// The label of the button for this command.
  var label: String {
    switch self {
    case .approve: "Approve the next wave"
    case .resume: "Resume"
    case .pause: "Pause"
    case .retry: "Retry failed devices"
    case .cancel: "Cancel the run"
    }
  }
}
#endif
