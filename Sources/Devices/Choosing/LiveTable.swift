import OtaflashATT
import OtaflashConsole

/// A live table of the devices in range, from which the user can choose. The type is pure: it
/// converts advertisements, keys and times to lines. Rows keep their places while the strength
/// varies. The selection is a device, not a place: Enter always chooses the device that was shown
/// as selected.
package struct LiveTable: Sendable {
  package struct Row: Sendable {
    package let id: String
    package var name: String?
    package var services: [BluetoothUUID] = []
    /// The smoothed signal strength, in dBm.
    package var strength: Double?
    /// The time of the last advertisement; `nil` = no advertisement since the start of the table.
    package var lastSeen: Duration?
    package var verdict = ImageFit.Verdict.unknown
  }

  package enum Outcome: Equatable, Sendable {
    case goesOn
    case chosen(String)
    case left
  }

  /// The weight of a new value in the smoothed strength.
  private static let weight = 0.3
  /// The difference, in dB, by which a device must be stronger to move above another row.
  private static let margin = 6.0
  /// The interval between changes of the order.
  private static let settling = Duration.seconds(1)
  /// The time without an advertisement after which a device is removed.
  private static let forgetting = Duration.seconds(60)
  private static let rowsMaximum = 500

  package let fit: ImageFit?
  /// The user's aliases, by id.
  package let aliases: [String: String]
  /// Whether Enter chooses a device.
  package let isChoice: Bool
  private let hasKeys: Bool
  package private(set) var rows: [Row] = []
  package private(set) var selected: String?
  /// The text that the name, alias or address of a visible row contains; `nil` = all rows are
  /// visible, and letters are commands.
  package private(set) var filter: String?
  private var settled: Duration?
  /// The index of the first visible row.
  private var top = 0
  private var page = 1

  /// - Parameters:
  ///   - hasKeys: whether the user can press keys.
  ///   - preferred: the device that is selected at first, even if it is not in range.
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

  // MARK: Events

  package mutating func discovered(_ result: ScanResult, at now: Duration) {
    let place = rows.firstIndex { $0.id == result.id }
    var row = place.map { rows[$0] } ?? Row(id: result.id)
    let wasSeen = row.lastSeen != nil
    row.name = result.name ?? row.name
    row.services = result.services
    row.verdict = fit?.verdict(on: result.services) ?? .unknown
    row.lastSeen = now
    if let rssi = result.rssi.map(Double.init) {
      row.strength = row.strength.map { $0 + (rssi - $0) * Self.weight } ?? rssi
    }
    if let place, wasSeen {
      rows[place] = row
    } else if let place {
      // A preferred device moves to its place without a margin when it is first discovered.
      rows.remove(at: place)
      insert(row)
      // The image does not fit the device that the user chose last.
      if row.verdict == .other, selected == row.id { selected = nil }
    } else if rows.count < Self.rowsMaximum {
      insert(row)
    }
  }

  private mutating func insert(_ row: Row) {
    let place = rows.firstIndex { Self.stands(row, before: $0, by: 0) } ?? rows.endIndex
    rows.insert(row, at: place)
  }

  /// Updates the table for the current time: rows change places, and devices out of range are
  /// removed.
  package mutating func settle(at now: Duration) {
    if let settled, now - settled < Self.settling { return }
    // In the first second, the order of the devices still changes.
    if settled != nil, isChoice, selected == nil {
      selected = visible.first { $0.verdict != .other }?.id
    }
    settled = now
    rows.removeAll { row in
      row.id != selected && row.lastSeen.map { now - $0 > Self.forgetting } ?? false
    }
    // Each step removes an inversion, so the loop ends.
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

  /// The rows that the filter permits.
  package var visible: [Row] {
    guard let filter, !filter.isEmpty else { return rows }
    let wanted = filter.lowercased()
    return rows.filter { row in
      [row.id, row.name, aliases[row.id]].contains { $0?.lowercased().contains(wanted) ?? false }
    }
  }

  package mutating func press(_ key: Key) -> Outcome {
    let visible = visible
    let place = visible.firstIndex { $0.id == selected }
    switch key {
    case .leave: return .left
    case .escape:
      guard filter != nil else { return .left }
      filter = nil
    case .enter:
      // The line below the table states the reason; flash would refuse the device.
      guard isChoice, let place, visible[place].verdict != .other else { return .goesOn }
      return .chosen(visible[place].id)
    case .other: break
    case .up: select(place.map { $0 - 1 } ?? 0)
    case .down: select(place.map { $0 + 1 } ?? 0)
    case .pageUp: select((place ?? 0) - page)
    case .pageDown: select((place ?? 0) + page)
    case .first: select(0)
    case .last: select(visible.count - 1)
    case .erase:
      filter = filter.flatMap { $0.isEmpty ? nil : String($0.dropLast()) }
      selectVisible()
    case .character(let character):
      if filter == nil, let command = Self.commands[character] { return press(command) }
      if filter == nil, character == "q" { return .left }
      if filter == nil, let digit = character.wholeNumberValue, (1...9).contains(digit) {
        if digit <= visible.count { select(digit - 1) }
        return .goesOn
      }
      // A slash starts a filter whose first character is a command.
      filter = filter.map { $0 + String(character) } ?? (character == "/" ? "" : String(character))
      selectVisible()
    }
    return .goesOn
  }

  private static let commands: [Character: Key] = [
    "k": .up, "j": .down, "g": .first, "G": .last,
  ]

  private mutating func select(_ place: Int) {
    let visible = visible
    guard isChoice, !visible.isEmpty else { return }
    selected = visible[min(max(place, 0), visible.count - 1)].id
  }

  /// Selects a device that the filter permits, if the selected device is no longer visible.
  private mutating func selectVisible() {
    let visible = visible
    guard isChoice, !visible.contains(where: { $0.id == selected }) else { return }
    selected = visible.first { $0.verdict != .other }?.id
  }

  // MARK: Output

  /// Returns the current lines, within the given height and width.
  package mutating func lines(
    rows height: Int, columns: Int, at now: Duration, in style: Style
  ) -> [Line] {
    let extra = isChoice ? 3 : 2
    let room = max(height - 1 - extra, 1)
    page = room
    let visible = visible
    let place = visible.firstIndex { $0.id == selected } ?? 0
    top = max(min(top, place, max(visible.count - room, 0)), place - room + 1)
    let shown = Array(visible.enumerated().dropFirst(top).prefix(room))
    let columns = max(columns - 1, 1)
    let layout = LiveTableLayout(
      self, shown.map { ($0.offset, $0.element) }, room: columns, at: now, in: style)
    var lines = layout.lines
    if rows.isEmpty { lines.append("  no device found yet") }
    if !rows.isEmpty, visible.isEmpty { lines.append("  no device matches the filter") }
    if isChoice, height > extra + 1 { lines.append(detail(in: style)) }
    lines.append(legend(hidden: visible.count - shown.count, in: style))
    return lines.suffix(max(height - 1, 1)).map { $0.clipped(to: columns, in: style) }
  }

  /// Returns the id of the selected row, and the reason for its verdict.
  private func detail(in style: Style) -> Line {
    guard let row = visible.first(where: { $0.id == selected }) else { return "" }
    let reason = row.lastSeen == nil ? "chosen last; not found yet" : fit?.reason(row.services)
    return style.dim("  " + ([row.id] + [reason].compactMap(\.self)).joined(separator: "  "))
  }

  private func legend(hidden: Int, in style: Style) -> Line {
    if let filter {
      let found = "\(Text.grouped(visible.count)) of " + Text.counted(rows.count, "device")
      let end = style.dim("   \(found)   Esc clears the filter")
      return style.dim("  filter: ") + Line(filter) + end
    }
    let keys =
      style.unicode
      ? "↑↓ move · ⏎ flash · type to filter · q quit"
      : "up, down: move, enter: flash, type to filter, q: quit"
    let count = Text.counted(rows.count { $0.lastSeen != nil }, "device") + " found"
    let more = hidden > 0 ? ["\(Text.grouped(hidden)) more"] : []
    let parts = (isChoice ? [keys] : hasKeys ? ["type to filter", "q quit"] : []) + [count] + more
    return style.dim("  " + parts.joined(separator: "   "))
  }
}
