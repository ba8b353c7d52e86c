extension Text {
  /// Returns rows with aligned columns. Columns are separated by two spaces, and no line ends with
  /// a space. Widths are in columns of a terminal.
  package static func table(_ cells: [[String]]) -> [String] {
    let rows = cells.map { $0.map(VisibleText.escaped) }
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? VisibleText.columns($0[column]) : 0 }.max() ?? 0
    }
    return rows.map { row in
      let last = row.lastIndex { !$0.isEmpty } ?? -1
      return row.prefix(last + 1).enumerated().map { index, cell in
        let padding = widths[index] - VisibleText.columns(cell)
        return index == last ? cell : cell + String(repeating: " ", count: padding)
      }.joined(separator: "  ")
    }
  }
}

/// Rows with titles, for a terminal that may be too narrow for them.
///
/// If the rows are too wide, columns with the same value in every row become one sentence. If the
/// rest is still too wide, it is divided into several tables. Each table repeats the columns that
/// identify a row.
package struct TextTable: Equatable, Sendable {
  package let titles: [String]
  package let rows: [[String]]
  /// The titles of the columns that identify a row.
  package let kept: Set<String>

  /// - Precondition: each row has a cell for each title.
  package init(titles: [String], rows: [[String]], kept: Set<String>) {
    precondition(rows.allSatisfy { $0.count == titles.count }, "a row has a cell for each title")
    self.titles = titles
    self.rows = rows
    self.kept = kept
  }

  /// - Parameter width: the width of the terminal; `nil` = no terminal.
  package func lines(within width: Int?) -> [String] {
    let all = Array(titles.indices)
    guard let width, !fits(all, width) else { return table(of: all) }
    let common = commonColumns
    let facts = common.filter { !rows[0][$0].isEmpty }
      .map { "\(titles[$0]) \(rows[0][$0])" }.joined(separator: ", ")
    let sentence = facts.isEmpty ? [] : Text.wrapped("all: " + facts, columns: width)
    let groups = groups(of: all.filter { !common.contains($0) }, within: width)
    return sentence + groups.map(table(of:)).joined(separator: [""])
  }

  /// The columns with one value. One of the columns that identify a row stays in the table.
  private var commonColumns: [Int] {
    let common = rows.count > 1 ? titles.indices.filter(isCommon) : []
    let staying =
      titles.indices.first { kept.contains(titles[$0]) && !common.contains($0) }
      ?? titles.indices.first { kept.contains(titles[$0]) }
    return common.filter { $0 != staying }
  }

  private func isCommon(_ column: Int) -> Bool { rows.allSatisfy { $0[column] == rows[0][column] } }

  private func table(of columns: [Int]) -> [String] {
    Text.table(([titles] + rows).map { row in columns.map { row[$0] } })
  }

  private func fits(_ columns: [Int], _ width: Int) -> Bool {
    table(of: columns).allSatisfy { VisibleText.columns($0) <= width }
  }

  /// Divides columns into tables that fit; a single column may still be too wide.
  private func groups(of columns: [Int], within width: Int) -> [[Int]] {
    let leading = columns.filter { kept.contains(titles[$0]) }
    var groups: [[Int]] = []
    var group = leading
    for column in columns where !leading.contains(column) {
      if group.count > leading.count, !fits(group + [column], width) {
        groups.append(group)
        group = leading
      }
      group.append(column)
    }
    return groups + [group]
  }
}
