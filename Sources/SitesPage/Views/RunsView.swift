#if Sites
import OtaflashFleet

/// The page with the list of runs, and the form for a new campaign.
enum RunsView {
  static func row(_ run: RunSummary) -> HTML {
    let mark: HTML = run.needsOperator ? " <b class=\"wait\">needs an operator</b>" : ""
    return """
      <tr><th scope="row"><a href="/runs/\(path: run.id)"><bdi>\(cut: run.campaign)</bdi></a>\
      <small>\(cut: run.id)</small></th><td>\(time: run.began)</td>\
      <td>\(cut: run.state)\(mark)</td><td class="r">\(grouped: run.events)</td></tr>

      """
  }

  static func table(_ label: String, _ runs: [RunSummary]) -> HTML {
    Elements.table(
      label, head: Elements.heads("Campaign", "Started (UTC)", "State", "Events"),
      rows: runs.map(row))
  }

  static func page(_ runs: TablePage<RunSummary>, for user: PageUser) -> HTML {
    let new: HTML =
      user.role >= .op
      ? "<p><a class=\"button\" href=\"/runs/new\">New campaign…</a></p>\n" : ""
    return PageFrame(title: "Campaigns", section: .runs, user: user).page(
      """
      <h1>Campaigns</h1>
      \(new)\(table("Runs of campaigns", runs.rows))\
      \(Elements.pager(runs) { QueryText.link("/runs", [("page", "\($0)")]) })
      """)
  }

  static func newPage(for user: PageUser, limit: Int) -> HTML {
    PageFrame(title: "New campaign", section: .runs, user: user).page(
      """
      <h1>New campaign</h1>
      <p>The run starts after the campaign file and its images are checked. The run then updates \
      devices without further confirmation, as the waves permit.</p>
      <form method="post" action="/runs" enctype="multipart/form-data" class="stack">
      <input type="hidden" name="\(FormCheck.fieldName)" value="\(user.session?.formToken ?? "")">
      <label for="campaign">Campaign file (YAML)</label>
      <input id="campaign" name="campaign" type="file" accept=".yaml,.yml" required>
      <label for="files">Images, device tables and keys that the campaign names</label>
      <input id="files" name="files" type="file" multiple aria-describedby="files-hint">
      <p class="small" id="files-hint">At most \(limit >> 20) MiB in total. The campaign \
      refers to these files by name, without a folder.</p>
      <button>Check and start</button>
      </form>

      """)
  }
}
#endif
