#if Fleet
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashSimulation
import OtaflashState

/// A campaign with all its files, which are read and checked before any action.
package struct LoadedCampaign: Sendable {
  package let path: String
  package let plan: CampaignPlan
  /// The images by their names in the campaign.
  package let images: [String: CampaignImage]
  package let keys: [FleetDevice.ID: [UInt8]]
  /// The public key that verifies the signature of every image; `nil` = no signature is required.
  let key: VerificationKey?
  /// SHA-256 of the public key in hex digits; `nil` = no signature is required.
  private let keyDigest: String?
  /// The files of the campaign except for the images.
  package let files: [RunFile]
  package let digest: String
  /// The simulated boards of the campaign, if its devices are simulated.
  package let simulation: FleetProfile?
  /// Known devices that are omitted because a value that `select` requires is unknown.
  private let undecided: [FleetDevice]

  /// Reads the files of the campaign, and checks the campaign.
  ///
  /// - Parameters:
  ///   - found: the devices that the scan has found.
  ///   - known: the known devices of earlier commands and campaigns.
  package init(
    _ text: CampaignText, found: [FleetDevice] = [], known: [FleetDevice] = [], now: WallClockTime
  ) throws(CommandFault) {
    var file = text.file
    let simulation = text.simulation
    if let simulation { file = file.adding(simulation.devices, from: .simulatedFleet) }
    let (complete, undecided) = file.adding(found, from: .scan).knowing(known)
    file = complete
    let plan = try text.checking { [file, simulation] () throws(CampaignFileFault) in
      let plan = try file.plan(now: now)
      if simulation == nil { try Self.checkDevices(of: plan, in: file, text.aliases) }
      return plan
    }
    try self.init(text, file, plan, undecided: undecided)
  }

  /// Reads the files of the campaign for a run that was started earlier. The devices and waves are
  /// the same as in the original plan, without a new selection or scan.
  package init(
    _ text: CampaignText, resuming run: FleetRun, now: WallClockTime
  ) throws(CommandFault) {
    let listed = Dictionary(text.file.campaign.devices.map { ($0.id, $0.keyFile) }) { $1 }
    // Versions that did not record keys did not support `devices-from: known`. Therefore, in a
    // campaign with `devices-from: known`, a device without a recorded key has no key.
    let scanKey = text.file.usesKnownDevices ? nil : text.file.devicesScan?.keyFile
    let waves = run.waves.map { wave in
      run.devices[wave.devices].map { device in
        var planned = FleetDevice(device.device)
        // Former versions did not record the key of a device that a scan found.
        planned.keyFile = planned.keyFile ?? (listed[planned.id] ?? scanKey)
        return planned
      }
    }
    guard waves.count == text.file.campaign.waves.count else {
      throw .fleet(
        .store(StorageFault(.unsound, "a run of this campaign has \(waves.count) waves")))
    }
    let unsettled = Set(run.devices.filter { $0.ending == nil }.map(\.device.id))
    let plan = try text.checking { () throws(CampaignFileFault) in
      let plan = try text.file.plan(resuming: waves, unsettled: unsettled, now: now)
      if text.simulation == nil { try Self.checkDevices(of: plan, in: text.file, text.aliases) }
      return plan
    }
    try self.init(text, text.file, plan, undecided: [])
  }

  private init(
    _ text: CampaignText, _ file: CampaignFile, _ plan: CampaignPlan, undecided: [FleetDevice]
  ) throws(CommandFault) {
    self.undecided = undecided
    path = text.path
    digest = text.digest
    simulation = text.simulation
    self.plan = plan
    var images: [String: CampaignImage] = [:]
    let key = try text.key()
    keyDigest = key.map { Text.hex($0.digest) }
    for name in Set(plan.campaign.images.values).sorted() {
      images[name] = try text.naming({ file.fault(ofFile: name, $0) }) {
        () throws(CommandFault) in
        try Self.image(text.resolve(name), signedBy: key)
      }
    }
    self.key = key
    self.images = images
    keys = try Self.keys(of: plan, in: file, text)
    files = Self.files(of: plan, in: text)
    try text.checking { [file, plan] () throws(CampaignFileFault) in
      try HookPrograms(nextTo: text.path).check(plan.campaign.hooks, in: file)
    }
  }

  /// Returns the options of the campaign, and the digest of its key, as they are printed.
  ///
  /// - Parameter now: determines the UTC offset that is printed for a zone without a name.
  package func settings(now: WallClockTime) -> [RunSetting] {
    plan.campaign.settings(now: now) + (keyDigest.map { [RunSetting("key SHA-256", $0)] } ?? [])
  }

  private static func files(of plan: CampaignPlan, in text: CampaignText) -> [RunFile] {
    let campaign = plan.campaign
    let programs = HookPrograms(nextTo: text.path).files(of: campaign.hooks)
    let secrets = Set(plan.waves.flatMap { $0.devices.compactMap(\.keyFile) }).sorted()
    return text.files
      + (campaign.keyFile.map { [RunFile(.key, name: $0, sha256: text.digest(ofFile: $0))] } ?? [])
      + programs.map { RunFile(.hook, name: $0, sha256: text.digest(ofFile: $0)) }
      + secrets.map { RunFile(.deviceKey, name: $0) }
  }

  // MARK: Devices

  private static let namedMaximum = 3

  /// Reports the known devices that are omitted because a required value is unknown.
  package func noteUndecided(in session: Session) {
    guard !undecided.isEmpty else { return }
    let facts = plan.campaign.selector?.facts.map(\.rawValue).joined(separator: ", ") ?? ""
    session.console.note(
      Text.counted(undecided.count, "known device") + " omitted, \(facts) unknown: "
        + undecided.prefix(Self.namedMaximum).map(\.id).joined(separator: ", ")
        + (undecided.count > Self.namedMaximum ? ", …; " : "; ")
        + "read the version with " + session.command("info", "-d", undecided[0].id))
  }

  /// Rejects ids that are invalid, are unknown aliases, or may match another device later.
  private static func checkDevices(
    of plan: CampaignPlan, in file: CampaignFile, _ aliases: DeviceAliases
  ) throws(CampaignFileFault) {
    for device in plan.waves.flatMap(\.devices) {
      let kind: DeviceSelector.Kind
      do { kind = try DeviceSelector.parse(device.id).kind } catch {
        throw file.fault(of: device.id, "\(error)")
      }
      switch kind {
      case .address, .unix, .simulated: continue
      case .alias(let alias): throw file.fault(of: device.id, aliases.words(ofUnknown: alias))
      case .name, .last:
        throw file.fault(
          of: device.id, "'\(device.id)' may match another device later; write its address")
      }
    }
  }

  // MARK: Images and keys

  private static func image(
    _ path: String, signedBy key: VerificationKey?
  ) throws(CommandFault) -> CampaignImage {
    // A run reads its images again whenever it is continued.
    if InputFile.isNoRegularFile(path) {
      throw .fleet(.notRegular(path: path))
    }
    let (content, sidecar): ([UInt8], ImageIdentity?)
    do throws(ImageFileFault) { (content, sidecar) = try ImageFile.readContent(path) } catch {
      throw .image(error)
    }
    let blob: ImageBlob
    do throws(ImageBlobFault) {
      blob = try ImageBlob(
        name: ImageFile.lastComponent(of: path), content: content, sidecar: sidecar)
    } catch {
      throw .fleet(.failed(words: "\(error)"))
    }
    return try CampaignImage(blob, signedBy: key)
  }

  private static func keys(
    of plan: CampaignPlan, in campaign: CampaignFile, _ text: CampaignText
  ) throws(CommandFault) -> [FleetDevice.ID: [UInt8]] {
    var keys: [FleetDevice.ID: [UInt8]] = [:]
    var known: [String: [UInt8]] = [:]
    for device in plan.waves.flatMap(\.devices) {
      guard let file = device.keyFile else { continue }
      if known[file] == nil {
        known[file] = try text.naming({ campaign.fault(of: device.id, $0) }) {
          () throws(CommandFault) in
          do throws(KeyFileFault) { return try KeyFile.load(text.resolve(file)) } catch {
            throw .keyFile(error)
          }
        }
      }
      keys[device.id] = known[file]
    }
    return keys
  }
}

/// A firmware file of a campaign.
package struct CampaignImage: Sendable {
  package let blob: ImageBlob
  package let package: FirmwarePackage

  /// Reads an image file. Refuses damaged files, files without firmware, and images without the
  /// signature of the campaign's key.
  init(_ blob: ImageBlob, signedBy key: VerificationKey?) throws(CommandFault) {
    do throws(FirmwareFault) { package = try blob.package() } catch {
      throw .image(.malformed(path: blob.name, error))
    }
    self.blob = blob
    try ImageSource.prove(package, by: key)
    try ImageSource.checkContent(of: package)
  }
}

extension FleetProfile {
  /// Returns the boards as devices of a campaign.
  fileprivate var devices: [FleetDevice] {
    (0..<boardCount).map { number in
      let board = board(number)
      return FleetDevice(
        id: board.id, board: board.kind, version: board.profile.settings.version)
    }
  }
}

extension FleetDevice {
  /// Creates a device from the record of a run.
  fileprivate init(_ device: RunDevice) {
    self.init(
      id: device.id, name: device.name, board: device.board, site: device.site,
      tags: Set(device.tags ?? []), keyFile: device.keyFile, rssi: device.rssi)
  }
}
#endif
