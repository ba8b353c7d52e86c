import OtaflashFirmware

/// A checked campaign: the devices with their image files and waves. The plan is frozen when a run
/// starts, so later changes of the device list have no effect.
public struct CampaignPlan: Hashable, Sendable {
  /// A wave and its devices.
  public struct PlannedWave: Hashable, Sendable {
    /// The wave as in the campaign.
    public let wave: Wave
    /// The devices in the order in which they start.
    public let devices: [FleetDevice]
  }

  /// The campaign.
  public let campaign: Campaign
  /// The waves, in order.
  public let waves: [PlannedWave]
  /// Devices that the selector excludes, in the order of the campaign.
  public let leftOut: [FleetDevice]

  /// The number of devices in all waves.
  public var deviceCount: Int { waves.reduce(0) { $0 + $1.devices.count } }

  /// Checks the campaign, and assigns the devices to waves.
  ///
  /// - Parameters:
  ///   - campaign: the campaign.
  ///   - now: a window that is closed at this time and does not open again is an error.
  public init(_ campaign: Campaign, now: WallClockTime) throws(CampaignFault) {
    try Self.checkValues(of: campaign)
    try Self.checkNames(of: campaign.devices)
    try Self.checkWindows(of: campaign, now: now)
    let (chosen, leftOut) = try Self.select(campaign)
    for device in chosen where campaign.image(for: device) == nil {
      throw .noImage(device: device.id, board: device.board)
    }
    let boards = Set(campaign.devices.compactMap(\.board))
    for board in campaign.images.keys.compactMap(\.self).sorted() where !boards.contains(board) {
      throw .imageForNoDevice(board: board)
    }
    self.campaign = campaign
    self.leftOut = leftOut
    waves = try Self.deal(chosen, of: campaign)
  }

  private static func checkWindows(
    of campaign: Campaign, now: WallClockTime
  ) throws(CampaignFault) {
    if let window = campaign.window, window.standing(at: now) == .over {
      throw .windowInThePast(site: nil)
    }
    let sites = Set(campaign.devices.compactMap(\.site))
    for (site, window) in campaign.siteWindows.sorted(by: { $0.key < $1.key }) {
      guard sites.contains(site) else { throw .unknownSite(site) }
      guard window.standing(at: now) != .over else { throw .windowInThePast(site: site) }
    }
  }

  /// Creates the plan of an earlier run from its frozen devices, without selecting or assigning
  /// devices again.
  ///
  /// - Parameters:
  ///   - campaign: the campaign of the run.
  ///   - waves: the devices of each wave of the campaign.
  ///   - unsettled: the devices that the run still has to update; their windows must be open, or
  ///     open again.
  ///   - now: a window that is closed at this time and does not open again is an error.
  public init(
    _ campaign: Campaign, resuming waves: [[FleetDevice]], unsettled: Set<FleetDevice.ID>,
    now: WallClockTime
  ) throws(CampaignFault) {
    let windows = campaign.windows
    let left = waves.joined().filter { unsettled.contains($0.id) }
    // The window of the campaign comes first, then the windows of sites by name.
    for site in Set(left.map { windows.decidingSite(for: $0.site) })
      .sorted(by: { ($0 ?? "") < ($1 ?? "") })
    where windows.window(at: site)?.standing(at: now) == .over {
      throw .windowInThePast(site: site)
    }
    var campaign = campaign
    campaign.devices = waves.flatMap(\.self)
    self.campaign = campaign
    leftOut = []
    self.waves = zip(campaign.waves, waves).map { PlannedWave(wave: $0, devices: $1) }
  }

  private static func checkValues(of campaign: Campaign) throws(CampaignFault) {
    guard !campaign.devices.isEmpty else { throw .noDevices }
    guard campaign.devices.count <= Campaign.devicesMaximum else {
      throw .tooManyDevices(count: campaign.devices.count, limit: Campaign.devicesMaximum)
    }
    guard !campaign.waves.isEmpty else { throw .noWaves }
    guard campaign.waves.count <= Campaign.wavesMaximum else {
      throw .tooManyWaves(count: campaign.waves.count, limit: Campaign.wavesMaximum)
    }
    var names: Set<String> = []
    for wave in campaign.waves {
      guard names.insert(wave.name).inserted else { throw .duplicateWave(name: wave.name) }
      try wave.check()
    }
    try check("parallel", campaign.parallel ?? 1, Campaign.parallelTransfers)
    try check("link attempts", campaign.retries.linkAttempts, RetryPolicy.attempts)
    try check("same failures", campaign.retries.sameFailures, RetryPolicy.repeats)
    try check(
      "infrastructure failures", campaign.retries.infrastructureFailures, RetryPolicy.attempts)
    try check("mtu", campaign.flash.mtu, FlashChoices.mtus)
  }

  fileprivate static func check(
    _ what: String, _ value: Int, _ range: ClosedRange<Int>
  ) throws(CampaignFault) {
    guard range.contains(value) else {
      throw .valueOutOfRange(what: what, value: value, range: range)
    }
  }

  private static func checkNames(of devices: [FleetDevice]) throws(CampaignFault) {
    var ids: Set<String> = []
    for device in devices where !ids.insert(device.identity).inserted {
      throw .duplicateDevice(id: device.id)
    }
    var names: Set<String> = []
    for device in devices {
      guard let name = device.name else { continue }
      guard names.insert(name).inserted, name == device.id || !ids.contains(name) else {
        throw .ambiguousName(name)
      }
    }
  }

  private static func select(
    _ campaign: Campaign
  ) throws(CampaignFault) -> (chosen: [FleetDevice], leftOut: [FleetDevice]) {
    guard let selector = campaign.selector else { return (campaign.devices, []) }
    var (chosen, leftOut, undecided): ([FleetDevice], [FleetDevice], [FleetDevice]) = ([], [], [])
    for device in campaign.devices {
      switch selector.truth(of: device) {
      case .yes: chosen.append(device)
      case .no: leftOut.append(device)
      case .undecided: undecided.append(device)
      }
    }
    guard undecided.isEmpty else {
      throw .undecided(devices: undecided.map(\.id), facts: selector.facts.map(\.rawValue))
    }
    guard !chosen.isEmpty else { throw .noSelection }
    return (chosen, leftOut)
  }

  // MARK: Waves

  private static func deal(
    _ devices: [FleetDevice], of campaign: Campaign
  ) throws(CampaignFault) -> [PlannedWave] {
    let named = try namedMembers(among: devices, of: campaign.waves)
    var pool = shuffled(devices.filter { named.wave[$0.id] == nil }, seed: campaign.seed)[...]
    var dealt = 0
    var waves: [PlannedWave] = []
    for (index, wave) in campaign.waves.enumerated() {
      let members: [FleetDevice]
      switch wave.members {
      case .named: members = named.members[index] ?? []
      case .rest:
        members = Array(pool)
        guard !members.isEmpty else { throw .emptyWave(name: wave.name) }
      case .count(let count):
        guard count <= pool.count else {
          throw .tooFewDevices(wave: wave.name, wanted: count, left: pool.count)
        }
        members = Array(pool.prefix(count))
      case .percent(let percent):
        let wanted = (devices.count * percent + 99) / 100 - dealt
        guard wanted > 0 else { throw .shrinkingWave(name: wave.name, percent: percent) }
        members = Array(pool.prefix(wanted))
      }
      if case .named = wave.members {} else { pool = pool.dropFirst(members.count) }
      guard !members.isEmpty else { throw .emptyWave(name: wave.name) }
      dealt += members.count
      waves.append(PlannedWave(wave: wave, devices: members))
    }
    guard pool.isEmpty else { throw .uncovered(count: pool.count) }
    return waves
  }

  private static func namedMembers(
    among devices: [FleetDevice], of waves: [Wave]
  ) throws(CampaignFault) -> (wave: [FleetDevice.ID: Int], members: [Int: [FleetDevice]]) {
    var known: [String: FleetDevice] = [:]
    for device in devices {
      known[device.id] = device
      known[device.identity] = device
      if let name = device.name { known[name] = device }
    }
    var (wave, members): ([FleetDevice.ID: Int], [Int: [FleetDevice]]) = ([:], [:])
    for (index, planned) in waves.enumerated() {
      guard case .named(let names) = planned.members else { continue }
      for name in names {
        guard let device = known[name] ?? known[FleetDevice.identity(of: name)] else {
          throw .unknownMember(wave: planned.name, member: name)
        }
        guard wave.updateValue(index, forKey: device.id) == nil else {
          throw .memberTwice(wave: planned.name, member: name)
        }
        members[index, default: []].append(device)
      }
    }
    return (wave, members)
  }

  /// Returns a Fisher-Yates shuffle by SplitMix64. A canary wave is therefore a random sample
  /// instead of the start of a list that is sorted by site, and every run of the campaign has the
  /// same sample.
  private static func shuffled(_ devices: [FleetDevice], seed: UInt64) -> [FleetDevice] {
    var devices = devices
    var random = SplitMix64(seed: seed)
    for index in stride(from: devices.count - 1, to: 0, by: -1) {
      let draw = random.next().multipliedFullWidth(by: UInt64(index + 1)).high
      devices.swapAt(index, Int(draw))
    }
    return devices
  }
}

extension Wave {
  fileprivate func check() throws(CampaignFault) {
    switch members {
    case .count(let count):
      try CampaignPlan.check("the size of wave '\(name)'", count, 1...Campaign.devicesMaximum)
    case .percent(let percent):
      try CampaignPlan.check("the share of wave '\(name)'", percent, 1...100)
    case .named(let names): guard !names.isEmpty else { throw .emptyWave(name: name) }
    case .rest: break
    }
    try CampaignPlan.check("success of wave '\(name)'", thresholds.successPercent, 0...100)
    try CampaignPlan.check("seen of wave '\(name)'", thresholds.seenPercent, 0...100)
    switch thresholds.stop {
    case .count(let count):
      try CampaignPlan.check("stop of wave '\(name)'", count, 1...Campaign.devicesMaximum)
    case .percent(let percent):
      try CampaignPlan.check("stop of wave '\(name)'", percent, 1...100)
    }
    try CampaignPlan.check(
      "overshoot of wave '\(name)'", thresholds.overshoot ?? 0, 0...Campaign.devicesMaximum)
  }
}
