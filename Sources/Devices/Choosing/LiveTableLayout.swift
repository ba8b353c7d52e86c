import OtaflashConsole

/// The rows of a live table as lines of one width. If the width is insufficient, columns are
/// omitted, the least important first.
package struct LiveTableLayout {
  private struct Column {
    let title: String
    let cells: [String]
    /// Columns with a lower rank are omitted first.
    let rank: Int
    var width: Int

    init(_ title: String, _ cells: [String], rank: Int) {
      self.title = title
      self.cells = cells
      self.rank = rank
      width = ([title] + cells).map(VisibleText.columns).max() ?? 0
    }
  }

  private static let gap = 2
  private static let nameMaximum = 24
  /// The signal strength, in dBm, at which the bar is empty; the bar is full at `strongest`.
  private static let weakest = -100.0
  private static let strongest = -40.0
  private static let barWidth = 10
  /// The minimum age that the table shows.
  private static let freshness = Duration.seconds(2)
  /// The age above which a row is dimmed.
  private static let staleness = Duration.seconds(10)

  package let lines: [Line]

  /// - Parameters:
  ///   - rows: the visible rows, with their places in the table.
  ///   - room: the width in columns.
  package init(
    _ table: LiveTable, _ rows: [(place: Int, row: LiveTable.Row)], room: Int, at now: Duration,
    in style: Style
  ) {
    let aliases = table.aliases
    let names = rows.map { aliases[$0.row.id] ?? $0.row.name ?? "" }
    var columns = [
      Column("#", rows.map { $0.place < 9 ? "\($0.place + 1)" : "" }, rank: table.isChoice ? 3 : 0),
      Column("", rows.map { Self.bar($0.row.strength, in: style) }, rank: 1),
      Column("RSSI", rows.map { Self.decibels($0.row.strength) }, rank: 4),
      Column("NAME", names.map { Self.clipped($0, in: style) }, rank: 9),
      Column("DEVICE", rows.map(\.row.id), rank: table.isChoice ? 2 : 8),
      Column("SEEN", rows.map { Self.age($0.row.lastSeen, at: now) }, rank: 5),
    ]
    if table.fit != nil {
      columns.append(Column("IMAGE", rows.map(\.row.verdict.word), rank: 7))
    }
    if !table.isChoice { columns.removeFirst() }
    Self.fit(&columns, into: room)
    let title = columns.map { Self.padded($0.title, $0.width) }.joined(separator: "  ")
    lines =
      [style.dim("  " + title)]
      + rows.indices.map { index in
        let row = rows[index].row
        let text = columns.map { Self.padded($0.cells[index], $0.width) }.joined(separator: "  ")
        let isSelected = row.id == table.selected
        let line = (isSelected ? style.pointer : " ") + " " + text
        if isSelected { return style.bold(line) }
        let isStale = row.lastSeen.map { now - $0 > Self.staleness } ?? true
        return isStale || row.verdict == .other ? style.dim(line) : Line(line)
      }
  }

  private static func fit(_ columns: inout [Column], into room: Int) {
    func width(_ columns: [Column]) -> Int {
      columns.reduce(gap) { $0 + $1.width } + gap * max(columns.count - 1, 0)
    }
    while width(columns) > room, columns.count > 1 {
      guard let least = columns.indices.min(by: { columns[$0].rank < columns[$1].rank }) else {
        return
      }
      columns.remove(at: least)
    }
  }

  // MARK: Cells

  private static func bar(_ strength: Double?, in style: Style) -> String {
    let share = strength.map { min(max(($0 - weakest) / (strongest - weakest), 0), 1) } ?? 0
    let full = Int((share * Double(barWidth)).rounded())
    let (cell, rest) = style.unicode ? ("█", "░") : ("#", ".")
    return String(repeating: cell, count: full) + String(repeating: rest, count: barWidth - full)
  }

  private static func decibels(_ strength: Double?) -> String {
    strength.map { "\(Int($0.rounded())) dBm" } ?? ""
  }

  private static func age(_ instant: Duration?, at now: Duration) -> String {
    guard let instant else { return "not yet" }
    let age = now - instant
    return age < freshness ? "now" : "\(Int(age.inSeconds)) s"
  }

  private static func clipped(_ name: String, in style: Style) -> String {
    Line(name).clipped(to: nameMaximum, in: style).text
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(width - VisibleText.columns(text), 0))
  }
}
