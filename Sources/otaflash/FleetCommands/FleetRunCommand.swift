#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetReport
import OtaflashFleetStore
import OtaflashState

/// Carries a campaign out, or goes on with it.
struct FleetRunCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Update the devices of a campaign.",
    discussion: """
      The same command goes on with a run that was broken off, however it ended: devices are asked \
      where they stand.
      """)
  static let words = "fleet run"
  static let takesSimulatedAir = true

  @Argument(help: "The campaign's file; see otaflash-campaign(5).", completion: .file())
  var campaign: String

  @Flag(name: .long, help: "Begin another run; one that is open is given up.")
  var again = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Transfers side by side on an adapter, 1 to 64; learned unless told.", valueName: "number"))
  var parallel: WholeNumber?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The adapters to work on, such as hci0,hci2; all that are on unless told.",
      valueName: "list"),
    transform: CommaList<AdapterName>.parse)
  var adapters: CommaList<AdapterName>?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Start only what this plan says, as 'fleet plan --save' wrote it.", valueName: "path"),
    completion: .file())
  var plan: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The operator's name in the record; the user and the host unless given.", valueName: "name"),
    transform: OperatorText.parseName)
  var operatorName: String?

  @OptionGroup var notification: NotifyOption
  @OptionGroup var global: GlobalOptions

  var notifies: Bool { notification.notify }
  var inputFiles: [String] { [campaign] + [plan].compactMap(\.self) }

  func validate() throws {
    if let parallel, !(1...64).contains(parallel.value) {
      throw ValidationError("--parallel \(parallel.value) is out of range; it is 1 to 64")
    }
    guard adapters == nil || global.adapter == nil else {
      throw ValidationError("--adapters names all of them; leave --adapter out")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let text = try CampaignText(path: campaign, aliases: session.aliases(), now: .now)
    try text.checkAir(of: global)
    let folder = try FleetFolder(of: session)
    let lock = try folder.lock()
    let store = try folder.open()
    try KnownDevices(session).takeOver(from: store)
    let start = FleetStart(
      store: store, again: again, person: operatorName ?? OperatorText.account, session: session)
    let newest = try start.newest(of: text.file.campaign.name)
    // From here on no other command changes that run.
    var active: ActiveRunLock? = nil
    if let newest { active = try await folder.lock(run: newest.id) }
    let last = try await start.last(newest)
    let loaded: LoadedCampaign
    if let last, !again, last.kept.digest == text.digest {
      let resumed = try LoadedCampaign(text, resuming: last.run, now: .now)
      if FleetStart.isDone(last, resumed) {
        let id = last.kept.id
        session.console.note("run \(id) of this campaign has ended; --again starts another")
        return try await FleetSummary(id, store, session).tell()
      }
      // Images that changed since the run ended are another run.
      loaded = last.isOpen ? resumed : try await load(text, in: session)
    } else if let last, !again, last.isOpen {
      // A mistake in the campaign is reported with its place, before that the campaign changed.
      if text.file.devicesScan == nil { _ = try await load(text, in: session) }
      throw .fleet(.changed(run: last.kept.id, campaign: campaign))
    } else {
      loaded = try await load(text, in: session)
    }
    if let plan { try PlanReview(loaded, now: .now).compare(withPlanAt: plan) }
    if loaded.simulation == nil {
      let devices = loaded.plan.waves.flatMap { $0.devices.map(\.id) }
      try await AdapterTransport(devices, on: chosenAdapters, in: session).check()
    }
    let started = try await start.run(for: loaded, after: last)
    let run = started.run
    if !started.goesOn { active = try await folder.lock(run: run.id) }
    tell(started, loaded, in: session)
    let runner = CampaignRunner(
      campaign: loaded, run: run, last: started.last, store: store,
      packages: started.packages, parallel: parallel?.value, adapters: chosenAdapters,
      session: session)
    let processorWait = ProcessorWait()
    _ = try await runner.perform()
    if let note = processorWait.note() { session.console.note(note) }
    extendLifetime(active)
    lock.release()
    return try await FleetSummary(run.id, store, session).tell()
  }

  /// `nil` = all that are on.
  private var chosenAdapters: Set<UInt16>? {
    adapters.map { Set($0.elements.map(\.number)) } ?? global.adapterNumber.map { [$0] }
  }

  /// The campaign of a new run, with the devices that its scan finds.
  private func load(
    _ text: CampaignText, in session: Session
  ) async throws(CommandFault) -> LoadedCampaign {
    var found: [FleetDevice] = []
    if let scan = text.file.devicesScan {
      found = try await FleetScan(scan).devices(on: chosenAdapters, in: session)
    }
    let known = try text.knownDevices(in: session)
    let loaded = try LoadedCampaign(text, found: found, known: known, now: .now)
    loaded.noteUndecided(in: session)
    return loaded
  }

  private func tell(
    _ started: FleetStart.Started, _ campaign: LoadedCampaign, in session: Session
  ) {
    let (plan, id) = (campaign.plan, started.run.id)
    let words =
      Text.counted(plan.deviceCount, "device") + ", " + Text.counted(plan.waves.count, "wave")
    session.console.note(
      "run \(id)  \(plan.campaign.name)  \(words)" + (started.goesOn ? ", going on" : ""))
    if let simulation = campaign.simulation {
      session.console.note("  simulated boards; one second here is \(simulation.speed) of theirs")
    }
    for image in campaign.images.values.sorted(by: { $0.package.name < $1.package.name }) {
      session.console.note("  " + image.package.parts.map(\.summary).joined(separator: ", "))
    }
  }
}

extension FleetDevice {
  /// A device as a run knows it.
  init(_ device: RunDevice) {
    self.init(
      id: device.id, name: device.name, board: device.board, site: device.site,
      tags: Set(device.tags ?? []), keyFile: device.keyFile, rssi: device.rssi)
  }
}
#endif
