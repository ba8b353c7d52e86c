#if Sites
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport

/// The page with the table of the devices of a run.
struct DevicesView: Sendable {
  let run: String
  let campaign: String
  let waves: [String]
  let sites: [String]
  let boards: [String]
  let query: DeviceQuery
  let page: TablePage<DeviceReport>

  init(_ index: inout RunIndex, _ query: DeviceQuery) {
    run = index.run.beginning?.id ?? ""
    campaign = index.run.beginning?.campaign ?? ""
    waves = index.run.waves.map(\.name)
    sites = index.sites
    boards = index.boards
    self.query = query
    page = index.page(query)
  }

  private var path: String { "/runs/\(Address.encoded(run))/devices" }

  func html(for user: PageUser) -> HTML {
    PageFrame(title: "Devices of \(campaign)", section: .runs, user: user).page(
      """
      <p class="kicker"><a href="/runs/\(path: run)">Run \(cut: run) of <bdi>\(cut: campaign)\
      </bdi></a></p>
      <h1>Devices</h1>
      \(filters)<p role="status">\(Figures.counted(page.total, "device"))</p>
      \(table)\(Elements.pager(page) { query.link(path, page: $0) })
      """)
  }

  private var filters: HTML {
    let outcomes = Outcome.allCases.map { ($0.rawValue, $0.words) }
    let waveOptions = waves.enumerated().map { ("\($0 + 1)", $1) }
    return """
      <form method="get" action="\(path)" class="controls" role="search" aria-label="Devices">
      <label>Name or id <input type="search" name="q" value="\(query.text)" maxlength="100">\
      </label>
      \(Elements.select(
        "outcome", "Outcome", all: "all", options: outcomes, selected: query.outcome?.rawValue))\
      \(Elements.select(
        "wave", "Wave", all: "all", options: waveOptions,
        selected: query.wave.map { "\($0 + 1)" }))\
      \(Elements.select(
        "site", "Site", all: "all", options: sites.map { ($0, $0) }, selected: query.site))\
      \(Elements.select(
        "board", "Board", all: "all", options: boards.map { ($0, $0) }, selected: query.board))\
      <button>Show</button> <a href="\(path)">Show all</a>
      </form>

      """
  }

  private var table: HTML {
    func head(_ words: StaticString, _ order: DeviceQuery.Order) -> HTML {
      Elements.sortHead(
        words, isCurrent: query.order == order, isDescending: query.isDescending,
        link: query.link(path, sortedBy: order))
    }
    return Elements.table(
      "Devices",
      head: [
        head("Device", .name), head("Outcome", .outcome), "<th scope=\"col\">Version</th>",
        head("Wave", .wave), head("Site", .site), head("Board", .board),
        head("Attempts", .attempts), head("Ended (UTC)", .settled),
      ], rows: page.rows.map(row))
  }

  private func row(_ device: DeviceReport) -> HTML {
    let id: HTML = device.device.name == nil ? "" : "<small>\(cut: device.device.id)</small>"
    let cause: HTML = device.cause.map { "<small>\(cut: $0.title)</small>" } ?? ""
    let ended: HTML = device.settled.map { "\(clock: $0)" } ?? ""
    return """
      <tr><th scope="row"><a href="\(path)/\(path: device.device.id)"><bdi>\(cut: device.label)\
      </bdi></a>\(id)</th>\
      <td class="k">\(Elements.outcome(device.outcome, device.outcomeWords))\(cause)</td>\
      <td class="n">\(Elements.versions(device.from?.description, device.to?.description))</td>\
      <td><bdi>\(cut: waves[device.wave])</bdi></td><td><bdi>\(cut: device.device.site ?? "")</bdi>\
      </td><td><bdi>\(cut: device.device.board ?? "")</bdi></td>\
      <td class="r">\(device.attempts.count)</td><td class="n">\(ended)</td></tr>

      """
  }
}

/// The page of a device in a run, with its attempts.
enum RunDeviceView {
  static func page(
    _ device: DeviceReport, run: String, campaign: String, wave: String, canRetry: Bool,
    for user: PageUser
  ) -> HTML {
    let path = "/runs/" + Address.encoded(run)
    let rows = device.attempts.map { attempt -> HTML in
      let took: HTML =
        attempt.ended.map {
          "\(Figures.duration($0.milliseconds - attempt.began.milliseconds))"
        } ?? ""
      return """
        <tr><td class="r">\(attempt.number)</td><td>\(time: attempt.began)</td><td>\(took)</td>\
        <td><bdi>\(cut: attempt.worker)</bdi></td><td><bdi>\(cut: attempt.adapter ?? "")</bdi></td>\
        <td><bdi>\(cut: attempt.words)</bdi></td></tr>

        """
    }
    let retry: HTML =
      canRetry
      ? """
      <p><a class="button retry" href="\(path)/retry?device=\(path: device.device.id)">Retry this \
      device…</a></p>

      """ : ""
    let cause: HTML =
      device.cause.map { "<p>\(cut: $0.title). \($0.remedy)</p>\n" } ?? ""
    return PageFrame(title: device.label, section: .runs, user: user).page(
      """
      <p class="kicker"><a href="\(path)">Run \(cut: run) of <bdi>\(cut: campaign)</bdi></a></p>
      <h1><bdi>\(cut: device.label)</bdi></h1>
      <p>\(Elements.outcome(device.outcome, device.outcomeWords))</p>
      \(cause)\(retry)\(Elements.facts([
        ("Id", "<bdi>\(cut: device.device.id)</bdi>"), ("Wave", "<bdi>\(cut: wave)</bdi>"),
        ("Site", "<bdi>\(cut: device.device.site ?? "any")</bdi>"),
        ("Board", "<bdi>\(cut: device.device.board ?? "unspecified")</bdi>"),
        (
          "Version",
          Elements.versions(device.from?.description, device.to?.description)
        ),
        ("Verification", "\(device.grade?.label ?? "none")"),
      ]))
      <p><a href="/devices/\(path: device.device.id)">All runs of this device</a></p>
      <section aria-labelledby="attempts"><h2 id="attempts">Attempts</h2>
      \(Elements.table(
        "Attempts",
        head: Elements.heads("Number", "Started (UTC)", "Time", "Gateway", "Adapter", "Result"),
        rows: rows))</section>

      """)
  }
}
#endif
