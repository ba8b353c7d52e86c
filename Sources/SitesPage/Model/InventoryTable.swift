#if Sites
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetReport

/// The rows of the inventory with their indexes.
struct InventoryTable: Sendable {
  private(set) var devices: [KnownDevice] = []
  private(set) var revision = 0
  var isComplete = false
  private var texts: [SearchText] = []
  private var places: [FleetDevice.ID: Int] = [:]
  private var counts: [VersionGroup.Key: Int] = [:]
  private var siteCounts: [String: Int] = [:]
  private var boardCounts: [String: Int] = [:]
  private var orders: [InventoryQuery.Order: (revision: Int, places: [Int])] = [:]
  private var latest: (revision: Int, summary: InventorySummary)?
  /// A number that increases when a device is added, or when its name, board or site changes.
  private var identityRevision = 0

  subscript(id: FleetDevice.ID) -> KnownDevice? { places[id].map { devices[$0] } }

  /// Returns the groups, sites and boards, which are sorted once per change.
  mutating func summary() -> InventorySummary {
    if let latest, latest.revision == revision { return latest.summary }
    let groups = counts.map { VersionGroup(key: $0, devices: $1) }
    let summary = InventorySummary(
      groups: groups.sorted {
        (NaturalText($0.key.board ?? ""), $0.key.sortVersion)
          < (NaturalText($1.key.board ?? ""), $1.key.sortVersion)
      }, sites: Self.sorted(siteCounts), boards: Self.sorted(boardCounts))
    latest = (revision, summary)
    return summary
  }

  private static func sorted(_ names: [String: Int]) -> [String] {
    names.keys.map { (NaturalText($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
  }

  // MARK: Changes

  mutating func record(_ reports: [DeviceReport], of run: RunBeginning, began: WallClockTime) {
    revision += 1
    for report in reports { record(report, of: run, began: began) }
  }

  private mutating func record(
    _ report: DeviceReport, of run: RunBeginning, began: WallClockTime
  ) {
    let device = report.device
    let place = places[device.id] ?? add(device.id)
    count(devices[place], by: -1)
    let entry = KnownDevice.Entry(
      run: run.id, campaign: run.campaign, began: began, report: KnownDevice.Outline(report))
    let entries = devices[place].entries
    let at = entries.firstIndex { $0.run == run.id || $0.began < began } ?? entries.count
    if at < entries.count, entries[at].run == run.id {
      devices[place].entries[at] = entry
    } else {
      devices[place].entries.insert(entry, at: at)
    }
    if at == 0 { identify(place, as: device) }
    count(devices[place], by: 1)
  }

  /// Sets the name, board and site of a device to the values in the newest run.
  private mutating func identify(_ place: Int, as device: RunDevice) {
    let known = devices[place]
    guard known.name != device.name || known.board != device.board || known.site != device.site
    else { return }
    devices[place].name = device.name
    devices[place].board = device.board
    devices[place].site = device.site
    texts[place] = SearchText((device.name ?? "") + "\n" + device.id)
    identityRevision += 1
  }

  private mutating func add(_ id: FleetDevice.ID) -> Int {
    places[id] = devices.count
    devices.append(KnownDevice(id: id))
    texts.append(SearchText("\n" + id))
    identityRevision += 1
    return devices.count - 1
  }

  private mutating func count(_ device: KnownDevice, by change: Int) {
    guard !device.entries.isEmpty else { return }
    counts.add(change, to: VersionGroup.Key(board: device.board, version: device.version))
    if let site = device.site { siteCounts.add(change, to: site) }
    if let board = device.board { boardCounts.add(change, to: board) }
  }

  // MARK: Tables

  mutating func page(_ query: InventoryQuery) -> TablePage<KnownDevice> {
    let text = SearchText(query.text)
    var found: [Int] = []
    for place in order(query.order) where matches(place, query, text) { found.append(place) }
    if query.isDescending { found.reverse() }
    let devices = devices
    return TablePage(of: found, page: query.page, size: query.size).map { devices[$0] }
  }

  private func matches(_ place: Int, _ query: InventoryQuery, _ text: SearchText) -> Bool {
    if let site = query.site, devices[place].site != site { return false }
    if let board = query.board, devices[place].board != board { return false }
    if let version = query.version, VersionGroup.words(devices[place].version) != version {
      return false
    }
    return text.isEmpty || texts[place].contains(text)
  }

  private mutating func order(_ order: InventoryQuery.Order) -> [Int] {
    let isFixed = order != .version && order != .last
    let revision = isFixed ? identityRevision : revision
    if let known = orders[order], known.revision == revision { return known.places }
    let made =
      switch order {
      case .name: sorted { NaturalText($0.label) }
      case .device: sorted { NaturalText($0.id) }
      case .site: sorted { NaturalText($0.site ?? "") }
      case .board: sorted { NaturalText($0.board ?? "") }
      case .version: sorted { $0.version ?? .unknown }
      case .last: sorted { $0.latest?.began ?? WallClockTime(milliseconds: 0) }
      }
    orders[order] = (revision, made)
    return made
  }

  private func sorted(by key: (KnownDevice) -> some Comparable) -> [Int] {
    devices.enumerated().map { (key($1), $0) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1)
  }
}

extension VersionGroup {
  /// Returns the version as a filter value; `unknown` if the version is `nil`.
  package static func words(_ version: FirmwareVersion?) -> String {
    version?.description ?? "unknown"
  }
}

extension VersionGroup.Key {
  fileprivate var sortVersion: FirmwareVersion { version ?? .unknown }
}

extension Dictionary where Value == Int {
  fileprivate mutating func add(_ change: Int, to key: Key) {
    let count = (self[key] ?? 0) + change
    self[key] = count > 0 ? count : nil
  }
}
#endif
