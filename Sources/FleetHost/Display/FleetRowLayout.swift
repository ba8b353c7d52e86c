#if Fleet
/// The widths of the parts of a device's line. In a narrow terminal, the bar becomes shorter; then
/// the adapter and the rate are omitted, so that no number is cut.
struct FleetRowLayout: Equatable, Sendable {
  static let percent = 4
  static let rate = 12
  private static let barMaximum = 20
  private static let barMinimum = 8

  let name: Int
  let bar: Int
  let showsRate: Bool
  let showsAdapter: Bool

  /// Creates the layout for names and adapters of these widths.
  init(name: Int, adapter: Int, columns: Int) {
    self.name = name
    // Two spaces before and after the name, and a space before the percentage.
    let room = columns - 2 - name - 2 - 1 - Self.percent
    let choices: [(rate: Bool, adapter: Bool)] = [(true, true), (true, false), (false, false)]
    let widths = choices.map { choice in
      room - (choice.rate ? 1 + Self.rate : 0) - (choice.adapter ? 2 + adapter : 0)
    }
    let index = widths.firstIndex { $0 >= Self.barMinimum } ?? choices.count - 1
    bar = max(0, min(widths[index], Self.barMaximum))
    showsRate = choices[index].rate
    showsAdapter = choices[index].adapter
  }

  /// The width of a stage, which replaces bar, percentage and rate.
  var stage: Int { bar + 1 + Self.percent + (showsRate ? 1 + Self.rate : 0) }
}
#endif
