#if Sites
import OtaflashFleet
import OtaflashFleetReport

/// The state of a run with counts, and with columns for filters and orders. The index is updated
/// with each event, so that a request does not process the events again, and creates reports only
/// for the displayed devices.
package struct RunIndex: Sendable {
  /// The values of a device that filters, orders and the chart use.
  private struct Column: Sendable {
    var outcome: Outcome
    var attempts: Int32
    /// The time of the final outcome in milliseconds since 1970; `nil` if the device has no final
    /// outcome.
    var settled: Int64?
    let site: Int32
    let board: Int32
    let wave: Int32
  }

  package private(set) var run: FleetRun
  package private(set) var counts = OutcomeCounts()
  /// The counts of each wave.
  package private(set) var waveCounts: [OutcomeCounts] = []
  /// The number of devices with each cause of failure.
  package private(set) var causes: [FailureCause: Int] = [:]
  /// A number that increases with each change.
  package private(set) var revision = 0
  /// The sites and boards of the devices, sorted.
  package let sites: [String]
  package let boards: [String]

  private var columns: [Column] = []
  private var deviceCauses: [FailureCause?] = []
  private let places: [FleetDevice.ID: Int]
  private let texts: [SearchText]
  private var orders: [DeviceQuery.Order: [Int32]] = [:]
  private var latestWaits: (revision: Int, second: Int64, waits: [RunWait])?

  package init(_ run: FleetRun) {
    self.run = run
    let devices = run.devices.map(\.device)
    sites = Set(devices.compactMap(\.site)).sorted()
    boards = Set(devices.compactMap(\.board)).sorted()
    places = Dictionary(devices.enumerated().map { ($1.id, $0) }) { first, _ in first }
    texts = devices.map { SearchText(($0.name ?? "") + "\n" + $0.id) }
    count()
  }

  package var hasEnded: Bool { run.hasEnded }
  package var deviceCount: Int { columns.count }
  package var state: RunReport.State { RunReport.State(run) }
  package var stateWords: String { state.words { run.waves[$0].name } }

  /// Whether the run continues only after a command of an operator.
  package var needsOperator: Bool {
    switch state {
    case .awaitingApproval: true
    case .paused(let reason): reason != .noAdapter
    case .running, .cancelling, .ended: false
    }
  }

  /// The waves as in the report.
  package var waves: [WaveReport] {
    let rules = run.beginning?.waveRules ?? []
    return run.waves.enumerated().map { number, wave in
      WaveReport(
        wave, rule: number < rules.count ? rules[number] : nil, counts: waveCounts[number],
        isOver: run.hasEnded)
    }
  }

  /// Returns the place of a device in the run; `nil` if the run does not contain the device.
  package func place(of device: FleetDevice.ID) -> Int? { places[device] }

  package func device(at place: Int) -> DeviceReport {
    DeviceReport(run.devices[place], hasEnded: run.hasEnded)
  }

  /// Returns the waits of the run. They are calculated again only if the run or the second has
  /// changed.
  package mutating func waits(at now: WallClockTime) -> [RunWait] {
    let second = now.milliseconds / 1000
    if let latestWaits, latestWaits.revision == revision, latestWaits.second == second {
      return latestWaits.waits
    }
    let waits = run.waits(at: now)
    latestWaits = (revision, second, waits)
    return waits
  }

  // MARK: Changes

  /// Applies new events.
  ///
  /// - Returns: the places of the changed devices.
  package mutating func apply(_ events: [FleetEvent], at moment: WallClockTime) -> [Int] {
    var changed: Set<Int> = []
    let hadEnded = run.hasEnded
    for event in events {
      run.apply(event, at: moment)
      if let device = event.device, let place = places[device] { changed.insert(place) }
    }
    revision += 1
    guard run.hasEnded == hadEnded else {
      // The devices without an outcome change from waiting to not completed.
      count()
      return Array(columns.indices)
    }
    for place in changed { update(place) }
    return changed.sorted()
  }

  private mutating func count() {
    counts = OutcomeCounts()
    waveCounts = run.waves.map { _ in OutcomeCounts() }
    causes = [:]
    columns = []
    deviceCauses = []
    let siteNumbers = Dictionary(uniqueKeysWithValues: sites.enumerated().map { ($1, Int32($0)) })
    let boardNumbers = Dictionary(uniqueKeysWithValues: boards.enumerated().map { ($1, Int32($0)) })
    columns.reserveCapacity(run.devices.count)
    for progress in run.devices {
      let report = DeviceReport(progress, hasEnded: run.hasEnded)
      let device = progress.device
      columns.append(
        Column(
          outcome: report.outcome, attempts: Int32(clamping: report.attempts.count),
          settled: report.settled?.milliseconds,
          site: device.site.flatMap { siteNumbers[$0] } ?? -1,
          board: device.board.flatMap { boardNumbers[$0] } ?? -1, wave: Int32(progress.wave)))
      deviceCauses.append(report.cause)
      count(report.outcome, report.cause, inWave: progress.wave, by: 1)
    }
  }

  private mutating func count(
    _ outcome: Outcome, _ cause: FailureCause?, inWave wave: Int, by change: Int
  ) {
    counts.count(outcome, by: change)
    waveCounts[wave].count(outcome, by: change)
    guard let cause else { return }
    let count = (causes[cause] ?? 0) + change
    causes[cause] = count > 0 ? count : nil
  }

  private mutating func update(_ place: Int) {
    let report = device(at: place)
    let wave = Int(columns[place].wave)
    count(columns[place].outcome, deviceCauses[place], inWave: wave, by: -1)
    count(report.outcome, report.cause, inWave: wave, by: 1)
    columns[place].outcome = report.outcome
    columns[place].attempts = Int32(clamping: report.attempts.count)
    columns[place].settled = report.settled?.milliseconds
    deviceCauses[place] = report.cause
  }
}

// MARK: Tables

extension RunIndex {
  /// Returns the devices of a page of the table.
  package mutating func page(_ query: DeviceQuery) -> TablePage<DeviceReport> {
    let text = SearchText(query.text)
    let site = query.site.map { name in sites.firstIndex(of: name).map { Int32($0) } ?? .max }
    let board = query.board.map { name in boards.firstIndex(of: name).map { Int32($0) } ?? .max }
    let order = order(query.order)
    func matches(_ place: Int) -> Bool {
      let column = columns[place]
      return query.outcome.map { $0 == column.outcome } ?? true
        && query.wave.map { $0 == Int(column.wave) } ?? true
        && site.map { $0 == column.site } ?? true && board.map { $0 == column.board } ?? true
        && (text.isEmpty || texts[place].contains(text))
    }
    var found: [Int] = []
    found.reserveCapacity(order.count)
    for place in order where matches(Int(place)) { found.append(Int(place)) }
    if query.isDescending { found.reverse() }
    return TablePage(of: found, page: query.page, size: query.size).map(device)
  }

  /// Returns the places of the devices in an order. An order by a column that never changes is
  /// sorted once.
  private mutating func order(_ order: DeviceQuery.Order) -> [Int32] {
    switch order {
    case .wave: return Array(0..<Int32(columns.count))
    case .outcome: return sorted { Int64(Outcome.places[columns[$0].outcome] ?? 0) }
    case .attempts: return sorted { Int64(columns[$0].attempts) }
    case .settled: return sorted { columns[$0].settled ?? .max }
    case .site: return kept(order) { index in index.sorted { Int64(index.columns[$0].site) } }
    case .board: return kept(order) { index in index.sorted { Int64(index.columns[$0].board) } }
    case .name: return kept(order) { $0.sortedByText { $0.name ?? $0.id } }
    case .device: return kept(order) { $0.sortedByText(\.id) }
    }
  }

  private mutating func kept(
    _ order: DeviceQuery.Order, _ make: (RunIndex) -> [Int32]
  ) -> [Int32] {
    if let known = orders[order] { return known }
    let made = make(self)
    orders[order] = made
    return made
  }

  private func sorted(by key: (Int) -> Int64) -> [Int32] {
    columns.indices.map { (key($0), Int32($0)) }.sorted { $0 < $1 }.map(\.1)
  }

  private func sortedByText(_ key: (RunDevice) -> String) -> [Int32] {
    run.devices.enumerated().map { (NaturalText(key($1.device)), Int32($0)) }.sorted {
      ($0.0, $0.1) < ($1.0, $1.1)
    }.map(\.1)
  }

  /// Returns the places of the first devices with an outcome, at most `limit`.
  func places(with outcome: Outcome, limit: Int) -> [Int] {
    guard counts[outcome] > 0 else { return [] }
    return Array(columns.indices.lazy.filter { columns[$0].outcome == outcome }.prefix(limit))
  }

  /// Returns the number of devices with a final outcome at each moment: succeeded devices, failed
  /// devices, and other devices.
  package func settled(until moments: [WallClockTime]) -> [(succeeded: Int, failed: Int, rest: Int)]
  {
    var sums = [(succeeded: Int, failed: Int, rest: Int)](
      repeating: (0, 0, 0), count: moments.count)
    for column in columns {
      guard let settled = column.settled else { continue }
      var (low, high) = (0, moments.count)
      while low < high {
        let middle = (low + high) / 2
        if moments[middle].milliseconds < settled { low = middle + 1 } else { high = middle }
      }
      guard low < moments.count else { continue }
      switch column.outcome {
      case .succeeded: sums[low].succeeded += 1
      case .failed: sums[low].failed += 1
      case .unseen, .neutral, .running, .waiting, .leftOut: sums[low].rest += 1
      }
    }
    for place in sums.indices.dropFirst() {
      sums[place].succeeded += sums[place - 1].succeeded
      sums[place].failed += sums[place - 1].failed
      sums[place].rest += sums[place - 1].rest
    }
    return sums
  }
}

extension Outcome {
  fileprivate static let places = Dictionary(
    uniqueKeysWithValues: allCases.enumerated().map { ($1, $0) })
}
#endif
