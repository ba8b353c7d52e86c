#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// The page of the sites with their gateways, and the overview.
enum SitesView {
  private static let runsMaximum = 5

  static func page(_ gateways: [GatewayState], at now: WallClockTime, for user: PageUser) -> HTML {
    PageFrame(title: "Sites", section: .sites, user: user, stream: "/events").page(
      """
      <h1>Sites</h1>
      \(LivePart.html("sites", sites(gateways, at: now)))
      """)
  }

  static func sites(_ gateways: [GatewayState], at now: WallClockTime) -> HTML {
    guard !gateways.isEmpty else { return "<p>No gateway has reported yet.</p>\n" }
    let names = Set(gateways.map(\.site)).sorted()
    return HTML(
      names.enumerated().map { number, site in
        let own = gateways.filter { $0.site == site }
        let running = own.count { $0.isRunning }
        return """
          <section aria-labelledby="site-\(number)"><h2 id="site-\(number)"><bdi>\(cut: site)</bdi>\
          </h2>
          <p class="small">\(running) of \(Figures.counted(own.count, "gateway")) running, \
          \(Figures.counted(own.reduce(0) { $0 + $1.adapters.count }, "adapter"))</p>
          \(Elements.table(
            "Gateways of \(site)",
            head: Elements.heads("Gateway", "State", "Last report", "Version", "Adapters", "Jobs"),
            rows: own.map { row($0, at: now) }))</section>

          """
      })
  }

  private static func row(_ gateway: GatewayState, at now: WallClockTime) -> HTML {
    let state: HTML =
      gateway.isRunning
      ? "<span class=\"good\"><span aria-hidden=\"true\">✓ </span>running</span>"
      : "<span class=\"bad\"><span aria-hidden=\"true\">✕ </span>silent</span>"
    let jobs = gateway.jobs.prefix(3).map { job -> HTML in
      """
      <a href="/runs/\(path: job.run)/devices/\(path: job.device)"><bdi>\(cut: job.device)</bdi>\
      </a>

      """
    }
    let more: HTML = gateway.jobs.count > 3 ? "and \(gateway.jobs.count - 3) more" : ""
    return """
      <tr><th scope="row"><bdi>\(cut: gateway.name)</bdi></th><td class="n">\(state)</td>\
      <td>\(gateway.lastReport.ago(from: now))</td><td>\(cut: gateway.version)</td>\
      <td><bdi>\(cut: gateway.adapters.joined(separator: ", "))</bdi></td>\
      <td>\(jobs)\(more)</td></tr>

      """
  }

  /// Returns the first page: runs that need an operator, active runs, and sites.
  static func overview(
    _ runs: [RunSummary], _ gateways: [GatewayState], _ extent: (devices: Int, isComplete: Bool),
    at now: WallClockTime, for user: PageUser
  ) -> HTML {
    PageFrame(title: "Overview", section: .overview, user: user, stream: "/events").page(
      """
      <h1>Overview</h1>
      \(overviewParts(runs, gateways, at: now))\
      <p><a href="/runs">All campaigns</a>, <a href="/devices">\
      \(Figures.counted(extent.devices, "device"))</a></p>

      """)
  }

  static func overviewParts(
    _ runs: [RunSummary], _ gateways: [GatewayState], at now: WallClockTime
  ) -> HTML {
    let open = runs.filter { !$0.hasEnded }
    let waiting = open.filter(\.needsOperator)
    let ended = runs.filter(\.hasEnded).prefix(runsMaximum)
    let attention: HTML =
      waiting.isEmpty
      ? "<p>No run needs an operator.</p>\n"
      : "\(RunsView.table("Runs that need an operator", waiting))"
    let silent = gateways.count { !$0.isRunning }
    let sites = Set(gateways.map(\.site)).count
    let warning: HTML =
      silent == 0
      ? "" : " <b class=\"bad\">\(Figures.counted(silent, "gateway")) silent</b>"
    return """
      <section aria-labelledby="attention"><h2 id="attention">Needs an operator</h2>
      \(LivePart.html("overview-attention", attention))</section>
      <section aria-labelledby="open"><h2 id="open">Open runs</h2>
      \(LivePart.html("overview-open", RunsView.table("Open runs", open)))</section>
      <section aria-labelledby="ended"><h2 id="ended">Last ended runs</h2>
      \(LivePart.html("overview-ended", RunsView.table("Last ended runs", Array(ended))))</section>
      <section aria-labelledby="gateways"><h2 id="gateways">Sites</h2>
      \(LivePart.html(
        "overview-sites",
        """
        <p><a href="/sites">\(Figures.counted(sites, "site")), \
        \(Figures.counted(gateways.count, "gateway"))</a>\(warning)</p>
        """))</section>

      """
  }
}
#endif
