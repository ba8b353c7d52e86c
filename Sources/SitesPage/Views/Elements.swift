#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// HTML elements that several pages use.
enum Elements {
  /// Returns a bar of the outcomes with a legend. Each entry of the legend is a link to the devices
  /// with this outcome.
  static func bar(_ counts: OutcomeCounts, height: Int, link: String? = nil) -> HTML {
    let parts = OutcomeBar.parts(counts)
    let summary = OutcomeBar.summary(counts)
    let rects = parts.map { part -> HTML in
      """
      <rect class="\(part.outcome.rawValue)" x="\(part.x)%" width="\(part.width)%" \
      height="\(height)"/>
      """
    }
    let bar: HTML = """
      <svg class="bar tall" width="100%" height="\(height)" role="img" aria-label="\(summary)">\
      \(rects)</svg>

      """
    guard let link else { return bar }
    let entries = parts.map { part -> HTML in
      """
      <li><span class="key \(part.outcome.rawValue)" aria-hidden="true">\(part.outcome.sign)\
      </span><a href="\(link)?outcome=\(part.outcome.rawValue)"><b>\(grouped: counts[part.outcome])\
      </b> \(part.outcome.words)</a></li>

      """
    }
    return "\(bar)<ul class=\"legend\">\n\(entries)</ul>\n"
  }

  /// Returns the state of a run with its sign.
  static func badge(_ sign: (String, String), _ words: String) -> HTML {
    """
    <span class="badge \(sign.1)"><span aria-hidden="true">\(sign.0)</span>\(cut: words)</span>
    """
  }

  /// Returns the outcome of a device with its sign.
  static func outcome(_ outcome: Outcome, _ words: String) -> HTML {
    """
    <span class="key \(outcome.rawValue)" aria-hidden="true">\(outcome.sign)</span>\(words)
    """
  }

  /// Returns a table. If the table is wider than the screen, the keyboard can scroll it.
  static func table(_ label: String, head: [HTML], rows: [HTML]) -> HTML {
    guard !rows.isEmpty else { return "<p class=\"small\">None.</p>\n" }
    return """
      <div class="scroll" role="region" aria-label="Table: \(label)" tabindex="0"><table>
      <thead><tr>\(head)</tr></thead>
      <tbody>
      \(rows)</tbody></table></div>

      """
  }

  static func heads(_ names: StaticString...) -> [HTML] {
    names.map { "<th scope=\"col\"\(alignment(of: $0))>\(HTML(stringLiteral: $0))</th>" }
  }

  /// The columns that contain numbers, which are aligned to the right.
  private static let numbers: Set = [
    "Attempt", "Attempts", "Devices", "Events", "Number", "Sessions", "Tokens",
  ]

  private static func alignment(of name: StaticString) -> HTML {
    numbers.contains(name.description) ? " class=\"r\"" : ""
  }

  /// Returns links to the other pages of a table.
  static func pager<Row>(_ page: TablePage<Row>, _ link: (Int) -> String) -> HTML {
    guard page.pages > 1 else { return "" }
    let former: HTML =
      page.page > 1
      ? "<a rel=\"prev\" href=\"\(link(page.page - 1))\">Previous page</a>"
      : "<span class=\"off\">Previous page</span>"
    let next: HTML =
      page.page < page.pages
      ? "<a rel=\"next\" href=\"\(link(page.page + 1))\">Next page</a>"
      : "<span class=\"off\">Next page</span>"
    return """
      <nav class="pages" aria-label="Pages of the table">\(former) <span>Page \
      \(grouped: page.page) of \(grouped: page.pages)</span> \(next)</nav>

      """
  }

  static func select(
    _ name: StaticString, _ label: StaticString, all: StaticString,
    options: [(value: String, words: String)], selected: String?
  ) -> HTML {
    guard !options.isEmpty else { return "" }
    let list = options.map { option -> HTML in
      let mark: HTML = option.value == selected ? " selected" : ""
      return "<option value=\"\(option.value)\"\(mark)>\(cut: option.words)</option>\n"
    }
    let name = HTML(stringLiteral: name)
    return """
      <label>\(HTML(stringLiteral: label)) <select name="\(name)"><option value="">\
      \(HTML(stringLiteral: all))</option>
      \(list)</select></label>

      """
  }

  /// Returns a column head that sorts the table.
  static func sortHead(
    _ words: StaticString, isCurrent: Bool, isDescending: Bool, link: String
  ) -> HTML {
    let state: HTML =
      isCurrent
      ? (isDescending ? " aria-sort=\"descending\"" : " aria-sort=\"ascending\"") : ""
    return """
      <th scope="col"\(alignment(of: words))\(state)>\
      <a href="\(link)">\(HTML(stringLiteral: words))</a></th>
      """
  }

  static func versions(_ from: String?, _ to: String?) -> HTML {
    switch (from, to) {
    case (let from?, let to?) where from != to: "\(from) → \(to)"
    case (_, let to?): "\(to)"
    case (let from?, nil): "\(from)"
    case (nil, nil): ""
    }
  }

  static func facts(_ facts: [(String, HTML)]) -> HTML {
    let entries = facts.map { name, value -> HTML in
      "<div><dt>\(cut: name)</dt><dd>\(value)</dd></div>\n"
    }
    return "<dl class=\"facts\">\n\(entries)</dl>\n"
  }
}

extension WallClockTime {
  /// Returns the time since this moment, such as `5 s ago`.
  func ago(from now: WallClockTime) -> String {
    Figures.duration(max(0, now.milliseconds - milliseconds)) + " ago"
  }
}
#endif
