#if Sites
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport

/// The page of the devices of all runs, with the number of devices that run each version.
enum InventoryView {
  private static let path = "/devices"

  static func page(_ inventory: DeviceInventory, _ query: InventoryQuery, for user: PageUser)
    -> HTML
  {
    let page = inventory.page(query)
    let note: HTML =
      inventory.extent.isComplete
      ? ""
      : "<p class=\"notice\">This page includes only the newest stored runs.</p>\n"
    return PageFrame(title: "Devices", section: .devices, user: user).page(
      """
      <h1>Devices</h1>
      \(note)<section aria-labelledby="versions"><h2 id="versions">Versions</h2>
      \(groups(inventory.groups))</section>
      <section aria-labelledby="all"><h2 id="all">All devices</h2>
      \(filters(inventory, query))<p role="status">\(Figures.counted(page.total, "device"))</p>
      \(table(page.rows, query))\(Elements.pager(page) { query.link(path, page: $0) })</section>
      """)
  }

  private static func groups(_ groups: [VersionGroup]) -> HTML {
    let rows = groups.map { group -> HTML in
      var query = InventoryQuery()
      query.board = group.key.board
      query.version = VersionGroup.words(group.key.version)
      return """
        <tr><th scope="row"><bdi>\(cut: group.key.board ?? "unspecified")</bdi></th>\
        <td>\(VersionGroup.words(group.key.version))</td>\
        <td class="r"><a href="\(query.link(path, page: 1))">\(grouped: group.devices)\
        <span class="hidden"> devices of board \(cut: group.key.board ?? "unspecified") with \
        version \(VersionGroup.words(group.key.version))</span></a></td></tr>

        """
    }
    return Elements.table(
      "Versions by board", head: Elements.heads("Board", "Version", "Devices"), rows: rows)
  }

  private static func filters(_ inventory: DeviceInventory, _ query: InventoryQuery) -> HTML {
    let summary = inventory.summary
    let versions = Set(summary.groups.map { VersionGroup.words($0.key.version) }).sorted()
    return """
      <form method="get" action="/devices" class="controls" role="search" aria-label="Devices">
      <label>Name or id <input type="search" name="q" value="\(query.text)" maxlength="100">\
      </label>
      \(Elements.select(
        "site", "Site", all: "all", options: summary.sites.map { ($0, $0) },
        selected: query.site))\
      \(Elements.select(
        "board", "Board", all: "all", options: summary.boards.map { ($0, $0) },
        selected: query.board))\
      \(Elements.select(
        "version", "Version", all: "all", options: versions.map { ($0, $0) },
        selected: query.version))\
      <button>Show</button> <a href="/devices">Show all</a>
      </form>

      """
  }

  private static func table(_ rows: [KnownDevice], _ query: InventoryQuery) -> HTML {
    func head(_ words: StaticString, _ order: InventoryQuery.Order) -> HTML {
      Elements.sortHead(
        words, isCurrent: query.order == order, isDescending: query.isDescending,
        link: query.link(path, sortedBy: order))
    }
    return Elements.table(
      "Devices",
      head: [
        head("Device", .name), head("Version", .version), head("Board", .board),
        head("Site", .site), head("Last run", .last), "<th scope=\"col\">Outcome</th>",
      ], rows: rows.map(row))
  }

  private static func row(_ device: KnownDevice) -> HTML {
    let id: HTML = device.name == nil ? "" : "<small>\(cut: device.id)</small>"
    var (run, outcome): (HTML, HTML) = ("", "")
    if let entry = device.latest {
      run = """
        <a href="/runs/\(path: entry.run)/devices/\(path: device.id)"><bdi>\(cut: entry.campaign)\
        </bdi></a><small>\(time: entry.began)</small>
        """
      outcome = Elements.outcome(entry.report.outcome, entry.report.words)
    }
    return """
      <tr><th scope="row"><a href="/devices/\(path: device.id)"><bdi>\(cut: device.label)</bdi></a>\
      \(id)</th><td class="n">\(VersionGroup.words(device.version))</td>\
      <td><bdi>\(cut: device.board ?? "")</bdi></td><td><bdi>\(cut: device.site ?? "")</bdi></td>\
      <td>\(run)</td><td class="k">\(outcome)</td></tr>

      """
  }

  /// Returns the page with the history of a device.
  static func page(_ device: KnownDevice, for user: PageUser) -> HTML {
    let rows = device.entries.map { entry -> HTML in
      let report = entry.report
      let cause: HTML = report.cause.map { "<small>\(cut: $0)</small>" } ?? ""
      return """
        <tr><th scope="row"><a href="/runs/\(path: entry.run)/devices/\(path: device.id)">\
        <bdi>\(cut: entry.campaign)</bdi></a><small>\(cut: entry.run)</small></th>\
        <td>\(time: entry.began)</td>\
        <td class="k">\(Elements.outcome(report.outcome, report.words))\(cause)</td>\
        <td class="n">\(Elements.versions(report.from?.description, report.to?.description))</td>\
        <td class="r">\(report.attempts)</td></tr>

        """
    }
    return PageFrame(title: device.label, section: .devices, user: user).page(
      """
      <p class="kicker"><a href="/devices">Devices</a></p>
      <h1><bdi>\(cut: device.label)</bdi></h1>
      \(Elements.facts([
        ("Id", "<bdi>\(cut: device.id)</bdi>"),
        ("Running version", "\(VersionGroup.words(device.version))"),
        ("Board", "<bdi>\(cut: device.board ?? "unspecified")</bdi>"),
        ("Site", "<bdi>\(cut: device.site ?? "any")</bdi>"),
      ]))
      <section aria-labelledby="history"><h2 id="history">History</h2>
      \(Elements.table(
        "Runs of the device",
        head: Elements.heads("Campaign", "Started (UTC)", "Outcome", "Version", "Attempts"),
        rows: rows))</section>

      """)
  }
}
#endif
