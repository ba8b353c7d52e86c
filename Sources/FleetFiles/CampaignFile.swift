#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// A parsed campaign file (docs/fleet.md), with the positions of its parts for later error
/// messages.
package struct CampaignFile: Sendable {
  static let keys = [
    "campaign", "image", "images", "key", "devices", "devices-file", "devices-scan",
    "devices-from", "select", "requires", "min-battery", "waves", "window", "sites", "retries",
    "parallel", "flash", "hooks", "seed",
  ]

  /// The campaign. `adding` and `knowing` add the devices that the file does not list: the devices
  /// of the device table, the scan and the simulated fleet, and known devices.
  package private(set) var campaign: Campaign
  /// The device table, in addition to the devices in the campaign.
  package let devicesFile: String?
  /// The scan whose devices are added to the campaign (`adding`).
  package let devicesScan: DeviceScan?
  /// Whether the known devices of earlier commands and campaigns are added (`devices-from: known`).
  package let usesKnownDevices: Bool
  /// `sim-fleet:N?…`, a fleet of simulated boards whose devices are added to the campaign.
  package let simulatedFleet: String?
  /// The positions of keys by name, and of other parts by names such as `wave NAME` or `file NAME`.
  private var places: [String: FilePlace]
  /// The positions of the devices, in the order of the campaign.
  private var devicePlaces: [(file: CampaignFileFault.File, place: FilePlace)]

  /// - Parameters:
  ///   - bytes: the content of the file.
  ///   - now: the current time; time zones are converted for the period from one year before this
  ///     time to three years after it.
  /// - Throws: the mistakes in the file, with their positions.
  package init(bytes: [UInt8], now: WallClockTime) throws(CampaignFileFault) {
    let mistakes = MistakeList()
    let fields = YAMLFields(
      try YAMLTree(bytes).root, of: "a campaign", known: Self.keys, mistakes)
    func require(_ keys: [String], _ words: String) {
      guard fields.isComplete, keys.allSatisfy({ fields[$0] == nil }) else { return }
      mistakes.note(at: fields.place, words)
    }
    require(["campaign"], "'campaign', the name of the campaign, is missing")
    require(
      ["devices", "devices-file", "devices-scan", KnownSource.key],
      "one of 'devices', 'devices-file', 'devices-scan' and 'devices-from' is required")
    require(["image", "images"], "'image' or 'images' is required")
    var places = Dictionary(
      uniqueKeysWithValues: Self.keys.map { ($0, fields.place(of: $0)) })
    let (devices, simulated) = DeviceListReading.devices(in: fields)
    if let simulated { places[DeviceListReading.simulatedFleet] = simulated.place }
    simulatedFleet = simulated?.text
    devicesFile = fields.text("devices-file")
    devicesScan = ScanReading.scan(in: fields)
    usesKnownDevices = fields.choice(KnownSource.key, KnownSource.self) != nil
    if usesKnownDevices, fields["select"] == nil {
      mistakes.note(
        at: fields.place(of: KnownSource.key),
        "'devices-from: known' requires 'select'; otherwise all known devices would be updated")
    }
    let images = Self.images(in: fields)
    for (file, place) in images.places { places["file \(file)"] = place }
    for key in ["devices-file", "key"] {
      if let file = fields[key]?.scalar?.string { places["file \(file)"] = fields[key]?.place }
    }
    campaign = Campaign(
      name: fields.text("campaign") ?? "", devices: devices.map(\.device), images: images.files)
    if fields["waves"] != nil {
      let read = WaveReading.waves(in: fields)
      campaign.waves = read.map(\.wave)
      for (wave, place, stop) in read where places["wave \(wave.name)"] == nil {
        places["wave \(wave.name)"] = place
        places["stop \(wave.name)"] = stop
      }
    }
    campaign.selector = Self.selector(in: fields)
    campaign.window = fields.fields("window", of: "a window", known: WindowReading.keys).map {
      WindowReading.window(in: $0, now: now)
    }
    for site in WindowReading.sites(in: fields, default: campaign.window, now: now) {
      campaign.siteWindows[site.name] = site.window
      places["site \(site.name)"] = site.place
    }
    campaign.keyFile = fields.text("key")
    campaign.requirements = RequirementReading.requirements(in: fields)
    campaign.retries = OptionReading.retries(in: fields)
    campaign.flash = OptionReading.flash(in: fields)
    campaign.hooks = HookReading.hooks(in: fields)
    for point in HookPoint.allCases where campaign.hooks[point] != nil {
      places["hook \(point.rawValue)"] = fields["hooks"].flatMap { hooks in
        hooks.mapping?[Node(point.rawValue)]?.place
      }
    }
    campaign.parallel = fields.whole("parallel", in: Campaign.parallelTransfers)
    campaign.seed = UInt64(clamping: fields.whole("seed") ?? 1)
    self.places = places
    devicePlaces = devices.map { (.campaign, $0.place) }
    try mistakes.finish()
  }

  /// Returns the campaign file with the devices of its device table appended.
  package func adding(_ table: DeviceTable, path: String) -> CampaignFile {
    var whole = self
    whole.campaign.devices += table.rows.map(\.device)
    whole.devicePlaces += table.rows.map { (.devices(path: path), $0.place) }
    return whole
  }

  /// Returns the campaign file with the user's aliases replaced by the ids of devices.
  ///
  /// - Parameter device: returns the id of an alias; `nil` = not an alias.
  /// - Returns: the file, and the aliases that were replaced, with their ids.
  package func resolvingAliases(
    by device: (String) -> FleetDevice.ID?
  ) -> (file: CampaignFile, used: [String: FleetDevice.ID]) {
    var whole = self
    let used = whole.campaign.resolveAliases(by: device)
    return (whole, used)
  }

  /// The source of the devices that the file does not list.
  package enum Source: Hashable, Sendable {
    case scan, simulatedFleet, known

    fileprivate var key: String {
      switch self {
      case .scan: "devices-scan"
      case .simulatedFleet: DeviceListReading.simulatedFleet
      case .known: KnownSource.key
      }
    }
  }

  /// Returns the campaign file with found devices appended. Devices that are already listed stay
  /// unchanged, and names that are not unique are removed.
  package func adding(_ found: [FleetDevice], from source: Source) -> CampaignFile {
    let known = Set(campaign.devices.map(\.identity))
    let fresh = found.filter { !known.contains($0.identity) }
    var names: [String: Int] = [:]
    for device in campaign.devices + fresh {
      for name in Set([device.id, device.name].compactMap(\.self)) { names[name, default: 0] += 1 }
    }
    var whole = self
    for var device in fresh {
      if let name = device.name, names[name] != 1 { device.name = nil }
      whole.campaign.devices.append(device)
      whole.devicePlaces.append((.campaign, places[source.key] ?? .start))
    }
    return whole
  }

  /// Returns the campaign file with the known versions of devices for which the file states no
  /// version. If the file has `devices-from: known`, the known devices are added.
  ///
  /// - Returns: the file, and the known devices for which `select` is undecided, which are not
  ///   added.
  package func knowing(
    _ known: [FleetDevice]
  ) -> (file: CampaignFile, undecided: [FleetDevice]) {
    var whole = self
    let versions = Dictionary(known.map { ($0.identity, $0.version) }) { first, _ in first }
    for index in whole.campaign.devices.indices
    where whole.campaign.devices[index].version == nil {
      let identity = whole.campaign.devices[index].identity
      whole.campaign.devices[index].version = versions[identity] ?? nil
    }
    guard usesKnownDevices else { return (whole, []) }
    let listed = Set(campaign.devices.map(\.identity))
    func isUndecided(_ device: FleetDevice) -> Bool {
      guard let selector = campaign.selector else { return false }
      return !listed.contains(device.identity) && selector.truth(of: device) == .undecided
    }
    return (
      whole.adding(known.filter { !isUndecided($0) }, from: .known), known.filter(isUndecided)
    )
  }

  /// Checks the campaign, and assigns the devices to waves.
  ///
  /// - Throws: the mistake, with its position.
  package func plan(now: WallClockTime) throws(CampaignFileFault) -> CampaignPlan {
    let plan = try placed { () throws(CampaignFault) in try CampaignPlan(campaign, now: now) }
    try checkStops(of: plan)
    return plan
  }

  /// Returns the plan of an earlier run, for the devices of its waves.
  ///
  /// - Parameter unsettled: the devices that the run still has to update.
  package func plan(
    resuming waves: [[FleetDevice]], unsettled: Set<FleetDevice.ID>, now: WallClockTime
  ) throws(CampaignFileFault) -> CampaignPlan {
    try placed { () throws(CampaignFault) in
      try CampaignPlan(campaign, resuming: waves, unsettled: unsettled, now: now)
    }
  }

  private func placed(
    _ body: () throws(CampaignFault) -> CampaignPlan
  ) throws(CampaignFileFault) -> CampaignPlan {
    do throws(CampaignFault) { return try body() } catch {
      let (file, place) = place(of: error)
      throw CampaignFileFault(file, at: place, "\(error)")
    }
  }

  /// Rejects a failure limit above the size of a wave, because it would never stop the wave.
  private func checkStops(of plan: CampaignPlan) throws(CampaignFileFault) {
    for planned in plan.waves {
      let (wave, size) = (planned.wave, planned.devices.count)
      guard case .count(let failures) = wave.thresholds.stop, failures > size else { continue }
      throw CampaignFileFault(
        at: places["stop \(wave.name)"] ?? places["wave \(wave.name)"] ?? .start,
        "wave '\(wave.name)' stops at \(failures) failed devices, but has only \(size); write "
          + "100% to stop when all devices have failed")
    }
  }

  // MARK: Positions

  /// Returns a fault about a device, with the position of the device in the list.
  package func fault(of device: FleetDevice.ID, _ words: String) -> CampaignFileFault {
    let (file, place) = place(ofLast: { $0.id == device }) ?? (.campaign, .start)
    return CampaignFileFault(file, at: place, words)
  }

  /// Returns a fault about a file of the campaign.
  package func fault(ofFile name: String, _ words: String) -> CampaignFileFault {
    CampaignFileFault(at: places["file \(name)"] ?? .start, words)
  }

  /// Returns a fault about a hook.
  package func fault(of hook: HookPoint, _ words: String) -> CampaignFileFault {
    CampaignFileFault(at: places["hook \(hook.rawValue)"] ?? places["hooks"] ?? .start, words)
  }

  /// Returns a fault about the simulated fleet.
  package func faultOfSimulatedFleet(_ words: String) -> CampaignFileFault {
    CampaignFileFault(at: places[DeviceListReading.simulatedFleet] ?? .start, words)
  }

  private func place(of fault: CampaignFault) -> (CampaignFileFault.File, FilePlace) {
    func key(_ key: String) -> (CampaignFileFault.File, FilePlace) {
      (.campaign, places[key] ?? .start)
    }
    switch fault {
    case .duplicateDevice(let id): return place(ofLast: { $0.id == id }) ?? key("devices")
    case .ambiguousName(let name):
      return place(ofLast: { $0.name == name || $0.id == name }) ?? key("devices")
    case .noImage(let device, _): return place(ofLast: { $0.id == device }) ?? key("images")
    case .noDevices where devicesScan != nil: return key("devices-scan")
    case .noDevices where usesKnownDevices: return key(KnownSource.key)
    case .noDevices, .tooManyDevices: return key("devices")
    case .imageForNoDevice: return key("images")
    case .noSelection, .undecided: return key("select")
    case .noWaves, .tooManyWaves, .uncovered: return key("waves")
    case .duplicateWave(let name), .emptyWave(let name), .shrinkingWave(let name, _),
      .unknownMember(let name, _), .memberTwice(let name, _), .tooFewDevices(let name, _, _):
      return key("wave \(name)")
    case .valueOutOfRange(let what, _, _):
      if let wave = campaign.waves.first(where: { what.hasSuffix("'\($0.name)'") }) {
        return key("wave \(wave.name)")
      }
      return key(what == "parallel" ? "parallel" : what == "mtu" ? "flash" : "retries")
    case .windowInThePast(nil): return key("window")
    case .windowInThePast(let site?), .unknownSite(let site): return key("site \(site)")
    }
  }

  private func place(
    ofLast isMeant: (FleetDevice) -> Bool
  ) -> (CampaignFileFault.File, FilePlace)? {
    campaign.devices.lastIndex(where: isMeant).map { devicePlaces[$0] }
  }

  // MARK: Parts

  private static func images(
    in fields: YAMLFields
  ) -> (files: [String?: String], places: [String: FilePlace]) {
    var (files, places): ([String?: String], [String: FilePlace]) = ([:], [:])
    if let file = fields.text("image") {
      files[nil] = file
      places[file] = fields.placeOfValue("image")
    }
    guard let node = fields["images"] else { return (files, places) }
    guard case .mapping(let mapping) = node, !mapping.isEmpty else {
      fields.mistakes.note(at: node.place, "write images as 'BOARD: FILE'")
      return (files, places)
    }
    for (board, file) in mapping {
      _ = fields.mistakes.attempt { () throws(CampaignFileFault) in
        let (board, name) = (try board.text(of: "a board"), try file.text(of: "an image"))
        files[board] = name
        places[name] = file.place
      }
    }
    return (files, places)
  }

  private static func selector(in fields: YAMLFields) -> DeviceExpression? {
    guard let node = fields["select"], let text = fields.text("select") else { return nil }
    do throws(SelectorFault) { return try DeviceExpression(parsing: text) } catch {
      // The column within the value, which starts after the quotation mark if the value is quoted.
      let isQuoted = node.scalar.map { $0.style != .plain } ?? false
      let column = node.place.column + error.column - 1 + (isQuoted ? 1 : 0)
      fields.mistakes.note(at: FilePlace(line: node.place.line, column: column), "\(error)")
      return nil
    }
  }
}
#endif
