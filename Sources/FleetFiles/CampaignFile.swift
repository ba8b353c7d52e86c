#if Fleet
import OtaflashFirmware
import OtaflashFleet
import Yams

/// A campaign as its owner wrote it (docs/fleet.md), with the places of what may turn out to be
/// wrong.
package struct CampaignFile: Sendable {
  static let keys = [
    "campaign", "image", "images", "devices", "devices-file", "select", "waves", "window",
    "retries", "parallel", "flash", "seed",
  ]

  /// Without the devices of the devices' file.
  package private(set) var campaign: Campaign
  /// The list of devices that the campaign names, beside its own.
  package let devicesFile: String?
  /// By device id, or by `wave NAME`, or by key.
  private var places: [String: FilePlace]
  private var devicePlaces: [(file: CampaignFileFault.File, place: FilePlace)]

  /// - Parameters:
  ///   - bytes: what the file holds.
  ///   - now: zones are known from a year before then to three years after.
  /// - Throws: what is wrong, with its place.
  package init(bytes: [UInt8], now: FleetTime) throws(CampaignFileFault) {
    let fields = try YAMLFields(YAMLTree(bytes).root, of: "a campaign", known: Self.keys)
    guard let name = try fields.text("campaign") else {
      throw CampaignFileFault(at: fields.place, "'campaign', its name, is missing")
    }
    var places = Dictionary(
      uniqueKeysWithValues: Self.keys.map { ($0, fields.place(of: $0)) })
    let devices = try DeviceListReading.devices(in: fields)
    devicesFile = try fields.text("devices-file")
    guard !devices.isEmpty || devicesFile != nil else {
      throw CampaignFileFault(at: fields.place, "there are neither 'devices' nor a 'devices-file'")
    }
    campaign = Campaign(
      name: name, devices: devices.map(\.device), images: try Self.images(in: fields))
    if let waves = fields["waves"] {
      let read = try WaveReading.waves(in: waves)
      campaign.waves = read.map(\.wave)
      for (wave, place) in read where places["wave \(wave.name)"] == nil {
        places["wave \(wave.name)"] = place
      }
    }
    campaign.selector = try Self.selector(in: fields)
    campaign.window = try fields["window"].map { (node) throws(CampaignFileFault) in
      try WindowReading.window(in: node, now: now)
    }
    campaign.retries = try OptionReading.retries(in: fields["retries"])
    campaign.flash = try OptionReading.flash(in: fields["flash"])
    campaign.parallel = try fields.whole("parallel")
    campaign.seed = UInt64(clamping: try fields.whole("seed") ?? 1)
    self.places = places
    devicePlaces = devices.map { (.campaign, $0.place) }
  }

  /// The same, with the devices of its devices' file behind its own.
  package func adding(_ table: DeviceTable, path: String) -> CampaignFile {
    var whole = self
    whole.campaign.devices += table.rows.map(\.device)
    whole.devicePlaces += table.rows.map { (.devices(path: path), $0.place) }
    return whole
  }

  /// Checks the whole, and deals the devices to the waves.
  ///
  /// - Throws: what is wrong, with its place.
  package func plan(now: FleetTime) throws(CampaignFileFault) -> CampaignPlan {
    do throws(CampaignFault) { return try CampaignPlan(campaign, now: now) } catch {
      let (file, place) = place(of: error)
      throw CampaignFileFault(file, at: place, "\(error)")
    }
  }

  // MARK: Places

  private func place(of fault: CampaignFault) -> (CampaignFileFault.File, FilePlace) {
    func key(_ key: String) -> (CampaignFileFault.File, FilePlace) {
      (.campaign, places[key] ?? .start)
    }
    switch fault {
    case .duplicateDevice(let id): return place(ofLast: { $0.id == id }) ?? key("devices")
    case .ambiguousName(let name):
      return place(ofLast: { $0.name == name || $0.id == name }) ?? key("devices")
    case .noImage(let device, _): return place(ofLast: { $0.id == device }) ?? key("images")
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
    case .windowInThePast: return key("window")
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
  ) throws(CampaignFileFault) -> [String?: String] {
    var images: [String?: String] = [:]
    if let node = fields["images"] {
      guard case .mapping(let mapping) = node, !mapping.isEmpty else {
        throw CampaignFileFault(at: node.place, "images are written as 'BOARD: FILE'")
      }
      for (board, file) in mapping {
        images[try board.text(of: "a board")] = try file.text(of: "an image")
      }
    }
    images[nil] = try fields.text("image")
    guard !images.isEmpty else {
      throw CampaignFileFault(at: fields.place, "there is neither an 'image' nor 'images'")
    }
    return images
  }

  private static func selector(
    in fields: YAMLFields
  ) throws(CampaignFileFault) -> DeviceExpression? {
    guard let node = fields["select"] else { return nil }
    let text = try node.text(of: "select")
    do throws(SelectorFault) { return try DeviceExpression(parsing: text) } catch {
      // The column within the text; a quoted one begins behind its quotation mark.
      let isQuoted = node.scalar.map { $0.style != .plain } ?? false
      let column = node.place.column + error.column - 1 + (isQuoted ? 1 : 0)
      throw CampaignFileFault(at: FilePlace(line: node.place.line, column: column), "\(error)")
    }
  }
}
#endif
