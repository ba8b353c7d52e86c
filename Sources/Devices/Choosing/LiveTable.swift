import OtaflashATT
import OtaflashConsole

/// What is heard, as a table that a person can choose from. Pure: advertisements, keys and moments
/// in, lines out. Rows keep their places while strength wanders, and what is selected is a device,
/// not a place: whatever moves, Enter takes the device that was seen to be selected.
package struct LiveTable: Sendable {
  package struct Row: Sendable {
    package let id: String
    package var name: String?
    package var services: [BluetoothUUID] = []
    /// In dBm, smoothed.
    package var strength: Double?
    /// `nil` = not since the table began.
    package var heard: Duration?
    package var verdict = ImageFit.Verdict.unknown
  }

  package enum Outcome: Equatable, Sendable {
    case goesOn
    case chosen(String)
    case left
  }

  /// How much of a new strength counts.
  private static let weight = 0.3
  /// A row passes another one when it is so much stronger, in dB.
  private static let margin = 6.0
  /// How often rows change places.
  private static let settling = Duration.seconds(1)
  /// Whoever was not heard for so long is left out.
  private static let forgetting = Duration.seconds(60)
  private static let rowsMaximum = 500

  package let fit: ImageFit?
  /// The user's own names, by id.
  package let aliases: [String: String]
  /// Whether Enter ends with a device.
  package let isChoice: Bool
  private let hasKeys: Bool
  package private(set) var rows: [Row] = []
  package private(set) var selected: String?
  private var settled: Duration?
  /// The first row that is shown.
  private var top = 0
  private var page = 1

  /// - Parameters:
  ///   - hasKeys: whether somebody can press any.
  ///   - preferred: the device that is offered first, heard or not.
  package init(
    fit: ImageFit? = nil, aliases: [String: String] = [:], isChoice: Bool = false,
    hasKeys: Bool = true, preferred: (id: String, name: String?)? = nil
  ) {
    self.fit = fit
    self.aliases = aliases
    self.isChoice = isChoice
    self.hasKeys = hasKeys
    if let preferred {
      rows = [Row(id: preferred.id, name: preferred.name)]
      selected = preferred.id
    }
  }

  // MARK: What happens

  package mutating func heard(_ result: ScanResult, at now: Duration) {
    let place = rows.firstIndex { $0.id == result.id }
    var row = place.map { rows[$0] } ?? Row(id: result.id)
    let wasHeard = row.heard != nil
    row.name = result.name ?? row.name
    row.services = result.services
    row.verdict = fit?.verdict(on: result.services) ?? .unknown
    row.heard = now
    if let rssi = result.rssi.map(Double.init) {
      row.strength = row.strength.map { $0 + (rssi - $0) * Self.weight } ?? rssi
    }
    if let place, wasHeard {
      rows[place] = row
    } else if let place {
      // What was offered before it was heard finds its place without a margin.
      rows.remove(at: place)
      insert(row)
    } else if rows.count < Self.rowsMaximum {
      insert(row)
    }
  }

  private mutating func insert(_ row: Row) {
    let place = rows.firstIndex { Self.stands(row, before: $0, by: 0) } ?? rows.endIndex
    rows.insert(row, at: place)
  }

  /// Time went by: rows change places, and those of devices that are gone go.
  package mutating func settle(at now: Duration) {
    if let settled, now - settled < Self.settling { return }
    // Before the first second is over nobody knows who is near.
    if settled != nil, isChoice, selected == nil { selected = rows.first?.id }
    settled = now
    rows.removeAll { row in
      row.id != selected && row.heard.map { now - $0 > Self.forgetting } ?? false
    }
    // Each step takes away an inversion, so this ends.
    var isMoving = true
    while isMoving {
      isMoving = false
      for place in rows.indices.dropLast()
      where Self.stands(rows[place + 1], before: rows[place], by: Self.margin) {
        rows.swapAt(place, place + 1)
        isMoving = true
      }
    }
  }

  private static func stands(_ row: Row, before other: Row, by margin: Double) -> Bool {
    guard row.verdict == other.verdict else { return row.verdict < other.verdict }
    return row.strength ?? -.infinity > (other.strength ?? -.infinity) + margin
  }

  package mutating func press(_ key: Key) -> Outcome {
    let place = rows.firstIndex { $0.id == selected }
    switch key {
    case .leave: return .left
    case .enter: return isChoice ? selected.map { .chosen($0) } ?? .goesOn : .goesOn
    case .other: break
    case .up: select(place.map { $0 - 1 } ?? 0)
    case .down: select(place.map { $0 + 1 } ?? 0)
    case .pageUp: select((place ?? 0) - page)
    case .pageDown: select((place ?? 0) + page)
    case .first: select(0)
    case .last: select(rows.count - 1)
    case .digit(let digit): if digit <= rows.count { select(digit - 1) }
    }
    return .goesOn
  }

  private mutating func select(_ place: Int) {
    guard isChoice, !rows.isEmpty else { return }
    selected = rows[min(max(place, 0), rows.count - 1)].id
  }

  // MARK: What is shown

  /// The lines of this moment; no more and no wider than that.
  package mutating func lines(
    rows height: Int, columns: Int, at now: Duration, in style: Style
  ) -> [Line] {
    let extra = isChoice ? 3 : 2
    let room = max(height - 1 - extra, 1)
    page = room
    let place = rows.firstIndex { $0.id == selected } ?? 0
    top = max(min(top, place, max(rows.count - room, 0)), place - room + 1)
    let shown = Array(rows.enumerated().dropFirst(top).prefix(room))
    let columns = max(columns - 1, 1)
    let layout = LiveTableLayout(
      self, shown.map { ($0.offset, $0.element) }, room: columns, at: now, in: style)
    var lines = layout.lines
    if rows.isEmpty { lines.append("  nothing was heard so far") }
    if isChoice, height > extra + 1 { lines.append(detail(in: style)) }
    lines.append(legend(hidden: rows.count - shown.count, in: style))
    return lines.suffix(max(height - 1, 1)).map { $0.clipped(to: columns, in: style) }
  }

  /// What the selected row had no room for.
  private func detail(in style: Style) -> Line {
    guard let row = rows.first(where: { $0.id == selected }) else { return "" }
    let reason = row.heard == nil ? "chosen last; not heard yet" : fit?.reason(row.services)
    return style.dim("  " + ([row.id] + [reason].compactMap(\.self)).joined(separator: "  "))
  }

  private func legend(hidden: Int, in style: Style) -> Line {
    let keys =
      style.unicode ? "↑↓ move · ⏎ flash · q leave" : "up, down: move, enter: flash, q: leave"
    let count = Text.counted(rows.count { $0.heard != nil }, "device") + " heard"
    let more = hidden > 0 ? ["\(Text.grouped(hidden)) more"] : []
    let parts = (isChoice ? [keys] : hasKeys ? ["q leave"] : []) + [count] + more
    return style.dim("  " + parts.joined(separator: "   "))
  }
}
