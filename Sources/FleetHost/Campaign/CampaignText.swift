#if Fleet
import Crypto
import OtaflashConsole
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetFiles
import OtaflashSimulation
import OtaflashState

/// A campaign file with its device table, before its images are read and its scan runs.
package struct CampaignText: Sendable {
  /// The maximum size of a campaign file, in bytes: larger than any campaign.
  private static let sizeLimit = 16 << 20
  /// The maximum size of a file whose SHA-256 is recorded, in bytes: larger than any hook program.
  private static let recordedLimit = 256 << 20

  package let path: String
  package let file: CampaignFile
  /// The digest of the campaign, its table and the devices of its aliases. An open run continues
  /// only if the digest is unchanged. The digest excludes the results of scans, because these
  /// results vary.
  package let digest: String
  /// The simulated boards of the campaign, if its devices are simulated.
  package let simulation: FleetProfile?
  /// The user's aliases of devices.
  let aliases: DeviceAliases
  /// The campaign file and its table.
  let files: [RunFile]
  /// The content of each file by its path, for the lines of errors.
  private let sources: [String: [UInt8]]

  package init(path: String, aliases: DeviceAliases, now: WallClockTime) throws(CommandFault) {
    self.path = path
    self.aliases = aliases
    let text = try Self.read(path)
    var sources = [path: text]
    var hash = SHA256()
    hash.update(data: text)
    var files = [RunFile(.campaign, name: Self.lastComponent(of: path), sha256: Self.sha256(text))]
    var file = try Self.at(path, sources) { () throws(CampaignFileFault) in
      try CampaignFile(bytes: text, now: now)
    }
    if let name = file.devicesFile {
      let tablePath = Self.resolve(name, nextTo: path)
      let table = try Self.table(tablePath, named: name, by: file, of: path, sources)
      sources[tablePath] = table
      hash.update(data: table)
      files.append(RunFile(.devices, name: name, sha256: Self.sha256(table)))
      file = try Self.at(path, sources) { [file] () throws(CampaignFileFault) in
        file.adding(try DeviceTable(path: tablePath, bytes: table), path: tablePath)
      }
    }
    simulation = try Self.at(path, sources) { [file] () throws(CampaignFileFault) in
      try Self.simulation(of: file)
    }
    self.files = files
    self.sources = sources
    // The simulated fleet names its boards.
    if simulation == nil {
      let (resolved, used) = file.resolvingAliases { aliases.device(of: $0) }
      file = resolved
      for (alias, device) in used.sorted(by: { $0.key < $1.key }) {
        hash.update(data: Array("\(alias)=\(device)\n".utf8))
      }
    }
    self.file = file
    digest = Text.hex(Array(hash.finalize()))
  }

  /// Returns the public key that verifies the signatures of the images; `nil` = the campaign
  /// requires no signatures.
  func key() throws(CommandFault) -> VerificationKey? {
    guard let name = file.campaign.keyFile else { return nil }
    return try naming({ file.fault(ofFile: name, $0) }) { () throws(CommandFault) in
      try VerificationKeyFile.load(resolve(name))
    }
  }

  /// Returns the known devices of earlier commands and campaigns, if the campaign uses these
  /// devices or their versions; otherwise an empty list.
  package func knownDevices(in session: Session) throws(CommandFault) -> [FleetDevice] {
    let asksForVersions = file.campaign.selector?.facts.contains(.version) ?? false
    guard simulation == nil, file.usesKnownDevices || asksForVersions else { return [] }
    return try KnownDevices(session).inventory(aliases)
  }

  /// Checks that devices in simulated air are selected by a scan, because they have no addresses to
  /// list.
  package func checkAir(of global: GlobalOptions) throws(CommandFault) {
    guard global.simulatedAir != nil, file.devicesScan == nil else { return }
    throw .usage(
      message: "--adapter sim requires a campaign with 'devices-scan'",
      command: "fleet run")
  }

  /// Returns the SHA-256 of a file that the campaign names, in hex digits; `nil` if the file cannot
  /// be read.
  func digest(ofFile name: String) -> String? {
    do throws(FileFault) {
      let file = InputFile(path: resolve(name), limit: Self.recordedLimit)
      return Self.sha256(try file.readComplete())
    } catch {
      return nil
    }
  }

  private static func sha256(_ content: [UInt8]) -> String {
    Text.hex(Array(SHA256.hash(data: content)))
  }

  private static func lastComponent(of path: String) -> String { ImageFile.lastComponent(of: path) }

  /// Returns the path of a file that the campaign names; relative paths are resolved against the
  /// folder of the campaign file.
  func resolve(_ name: String) -> String { Self.resolve(name, nextTo: path) }

  private static func resolve(_ name: String, nextTo path: String) -> String {
    let folder = OutputFile.folder(of: path)
    return name.hasPrefix("/") || folder == "." ? name : folder + "/" + name
  }

  private static func read(_ path: String) throws(CommandFault) -> [UInt8] {
    do throws(FileFault) {
      let content = try InputFile(path: path, limit: sizeLimit).read()
      // The reader reports larger files with its own message.
      return content
    } catch {
      throw .fleet(.file(error))
    }
  }

  private static func table(
    _ tablePath: String, named name: String, by file: CampaignFile, of path: String,
    _ sources: [String: [UInt8]]
  ) throws(CommandFault) -> [UInt8] {
    do throws(FileFault) {
      return try InputFile(path: tablePath, limit: DeviceTable.sizeLimit).read()
    } catch {
      let place = FilePassage(file.fault(ofFile: name, ""), of: path, sources)
      throw .fleet(.named(by: path, at: place, .file(error)))
    }
  }

  /// Runs `body`, which reads a file that the campaign names, and adds the location of the name to
  /// its fault.
  ///
  /// - Parameter place: returns a fault with the location of the name.
  func naming<Value>(
    _ place: (String) -> CampaignFileFault, _ body: () throws(CommandFault) -> Value
  ) throws(CommandFault) -> Value {
    do throws(CommandFault) { return try body() } catch {
      let passage = FilePassage(place(""), of: path, sources)
      throw .fleet(.named(by: path, at: passage, error))
    }
  }

  /// Returns the result of `body`, and reports mistakes in the campaign or its table with their
  /// lines.
  func checking<Value>(
    _ body: () throws(CampaignFileFault) -> Value
  ) throws(CommandFault) -> Value {
    try Self.at(path, sources, body)
  }

  private static func at<Value>(
    _ path: String, _ sources: [String: [UInt8]], _ body: () throws(CampaignFileFault) -> Value
  ) throws(CommandFault) -> Value {
    do throws(CampaignFileFault) { return try body() } catch {
      let mistakes = [error] + error.further
      throw .fleet(
        .campaign(
          path: path, mistakes.map { FilePassage($0, of: path, sources) }, omitted: error.omitted))
    }
  }

  private static func simulation(
    of file: CampaignFile
  ) throws(CampaignFileFault) -> FleetProfile? {
    guard let text = file.simulatedFleet else { return nil }
    guard file.campaign.devices.isEmpty, file.devicesScan == nil, !file.usesKnownDevices else {
      throw file.faultOfSimulatedFleet(
        "a simulated fleet has its own adapters and excludes other devices")
    }
    do throws(ProfileFault) { return try FleetProfile(parsing: text) } catch {
      throw file.faultOfSimulatedFleet("'\(text)' is not a simulated fleet: \(error)")
    }
  }
}

extension FilePassage {
  fileprivate init(
    _ fault: CampaignFileFault, of campaign: String, _ sources: [String: [UInt8]]
  ) {
    let path =
      switch fault.file {
      case .campaign: campaign
      case .devices(let table): table
      }
    self.init(
      path: path, line: fault.place.line, column: fault.place.column, words: fault.words,
      source: sources[path].flatMap { FileLine(fault.place.line, of: $0)?.text })
  }
}
#endif
