import OtaflashConsole
import OtaflashFirmware
import OtaflashState

/// The choice of a device if the command line does not name a device. At a terminal, the user
/// chooses among the devices in range; otherwise the command fails and lists these devices. No
/// device is chosen automatically.
package struct DeviceChoice: Sendable {
  /// The default duration of the scan without a terminal.
  private static let listening = Duration.seconds(5)
  /// The default time limit for the user's choice.
  private static let patience = Duration.seconds(24 * 3600)
  /// The maximum number of devices in an error message.
  private static let namedMaximum = 8
  private static let advice = "Choose at a terminal, or name the device with -d."

  /// The image or the resources; `nil` if the image is not known yet.
  private let fit: ImageFit?
  private let session: Session

  package init(for fit: ImageFit?, session: Session) {
    self.fit = fit
    self.session = session
  }

  /// Asks the user for a device; returns an ending that continues the run with this device.
  package func ending() async throws(CommandFault) -> Ending {
    guard fit != nil, Keyboard.isAvailable(in: session) else { throw try await refusal() }
    let records = try StateStore.open(session)
    let table = try table(records)
    session.console.note(title)
    let scan = LiveScan(
      table, ScanFilter(), for: session.global.timeout?.duration ?? Self.patience, in: session)
    let ending = try await scan.run()
    records.seen(scan.discovered)
    switch ending {
    case .chosen(let id):
      records.chosen(id)
      let words = Self.words(session.context.arguments, naming: id)
      session.console.note("  " + session.context.command(words))
      return Ending(exit: .done, outcome: "chosen", next: words)
    case .left: throw .noDeviceNamed(why: "No device was chosen. Nothing sent.", suggestion: nil)
    case .over:
      guard session.interruption.signal == nil else { throw .stopped }
      throw .noDeviceNamed(why: "No device was chosen in time. Nothing sent.", suggestion: nil)
    }
  }

  private var title: Line {
    let style = session.console.settings.errorStyle
    guard let fit else { return "" }
    let version = fit.versionName.map { "  \($0)" } ?? ""
    return "\(style.bold(fit.name))\(version)  \(Text.grouped(fit.size)) B: which device?"
  }

  private func table(_ records: StateStore) throws(CommandFault) -> LiveTable {
    let aliases = try records.aliases().all.map { ($0.device, $0.alias.description) }
    let last = try records.lastChosen()
    return LiveTable(
      fit: fit, aliases: Dictionary(aliases) { first, _ in first },
      isChoice: true, preferred: last.map { ($0.id, $0.name) })
  }

  /// Returns the arguments of the command line with the device.
  package static func words(_ words: [String], naming id: String) -> [String] {
    let end = words.firstIndex(of: "--") ?? words.endIndex
    return Array(words[..<end]) + ["-d", id] + Array(words[end...])
  }

  // MARK: Without a terminal

  private func refusal() async throws(CommandFault) -> CommandFault {
    let limit = session.global.timeout?.duration ?? Self.listening
    session.console.note("no device specified; scanning for \(Text.seconds(limit))")
    let devices: [ScanResult]
    do throws(CommandFault) {
      devices = try await Air(session.global).survey(ScanFilter(), for: limit) { [session] in
        session.console.event("advertisement", $0.members)
      }
    } catch {
      if case .stopped = error { throw error }
      let why = session.context.report(error)
      return .noDeviceNamed(
        why: "The scan failed: \(why.what). \(Self.advice)", suggestion: nil)
    }
    return Self.refusal(devices, for: fit)
  }

  package static func refusal(_ devices: [ScanResult], for fit: ImageFit?) -> CommandFault {
    let candidates = devices.map { Candidate($0, fit) }.sorted { $0.stands(before: $1) }
    guard let first = candidates.first else {
      return .noDeviceNamed(why: "No device was found. " + advice, suggestion: nil)
    }
    let list = candidates.prefix(namedMaximum).map(\.words).joined(separator: ", ")
    let hidden = candidates.count - namedMaximum
    let rest = hidden > 0 ? ", and \(Text.grouped(hidden)) more. " : ". "
    let suggestion: String? = first.verdict == .other ? nil : first.device.id
    return .noDeviceNamed(why: "Found: " + list + rest + advice, suggestion: suggestion)
  }

  private struct Candidate {
    let device: ScanResult
    let verdict: ImageFit.Verdict
    private let isJudged: Bool

    init(_ device: ScanResult, _ fit: ImageFit?) {
      self.device = device
      verdict = fit?.verdict(on: device.services) ?? .unknown
      isJudged = fit != nil
    }

    func stands(before other: Candidate) -> Bool {
      guard verdict == other.verdict else { return verdict < other.verdict }
      return device.rssi ?? .min > other.device.rssi ?? .min
    }

    /// The device as text, such as `sim:smp (sensor-02, -50 dBm, fits)`.
    var words: String {
      var facts: [String] = []
      if let name = device.name { facts.append(name) }
      if let rssi = device.rssi { facts.append("\(rssi) dBm") }
      if isJudged { facts.append(verdict.word) }
      return facts.isEmpty ? device.id : "\(device.id) (\(facts.joined(separator: ", ")))"
    }
  }
}
