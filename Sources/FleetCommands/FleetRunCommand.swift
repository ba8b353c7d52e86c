#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetReport
import OtaflashFleetStore
import OtaflashState

/// Runs a campaign, or continues its run.
struct FleetRunCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Update the devices of a campaign.",
    discussion: """
      To continue a run after an interruption, run the same command again: otaflash reads the \
      state of each device.
      """)
  static let words = "fleet run"
  static let takesSimulatedAir = true

  @Argument(help: "The campaign file; see otaflash-campaign(5).", completion: .file())
  var campaign: String

  @Flag(name: .long, help: "Start a new run, and abandon an open run.")
  var again = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Concurrent transfers per adapter, 1 to 64 (default: automatic).", valueName: "number"))
  var parallel: WholeNumber?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The adapters to use, such as hci0,hci2 (default: all adapters that are on).",
      valueName: "list"),
    transform: CommaList<AdapterName>.parse)
  var adapters: CommaList<AdapterName>?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Run only if the campaign matches this plan, which 'fleet plan --save' wrote.",
      valueName: "path"),
    completion: .file())
  var plan: String?

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "The operator's name in the record (default: the user and the host).", valueName: "name"),
    transform: OperatorText.parseName)
  var operatorName: String?

  @OptionGroup var notification: NotifyOption
  @OptionGroup var global: GlobalOptions

  var notifies: Bool { notification.notify }
  var inputFiles: [String] { [campaign] + [plan].compactMap(\.self) }

  func validate() throws {
    if let parallel, !(1...64).contains(parallel.value) {
      throw ValidationError("--parallel \(parallel.value) is out of range; specify 1 to 64")
    }
    guard adapters == nil || global.adapter == nil else {
      throw ValidationError("use either --adapters or --adapter")
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
    // After this call, no other command can change this run.
    var active: ActiveRunLock? = nil
    if let newest { active = try await folder.lock(run: newest.id) }
    let last = try await start.last(newest)
    let loaded: LoadedCampaign
    if let last, !again, last.kept.digest == text.digest {
      let resumed = try LoadedCampaign(text, resuming: last.run, now: .now)
      if FleetStart.isDone(last, resumed) {
        let id = last.kept.id
        session.console.note("run \(id) of this campaign has ended; --again starts another")
        return try await FleetSummary(id, store, session).report()
      }
      // If images changed after the end of the run, another run is required.
      loaded = last.isOpen ? resumed : try await load(text, in: session)
    } else if let last, !again, last.isOpen {
      // An error in the campaign, with its location, takes precedence over the changed campaign.
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
    announce(started, loaded, in: session)
    let runner = CampaignRunner(
      started, of: loaded, in: store, parallel: parallel?.value, adapters: chosenAdapters,
      session: session)
    let processorWait = ProcessorWait()
    _ = try await runner.perform()
    if let note = processorWait.note() { session.console.note(note) }
    extendLifetime(active)
    lock.release()
    return try await FleetSummary(run.id, store, session).report()
  }

  /// The numbers of the adapters that the user chose; `nil` = all adapters that are on.
  private var chosenAdapters: Set<UInt16>? {
    adapters.map { Set($0.elements.map(\.number)) } ?? global.adapterNumber.map { [$0] }
  }

  /// Returns the campaign of a new run, with the devices that its scan finds.
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

  private func announce(
    _ started: FleetStart.Started, _ campaign: LoadedCampaign, in session: Session
  ) {
    let (plan, id) = (campaign.plan, started.run.id)
    let words =
      Text.counted(plan.deviceCount, "device") + ", " + Text.counted(plan.waves.count, "wave")
    session.console.note(
      "run \(id)  \(plan.campaign.name)  \(words)" + (started.goesOn ? ", continued" : ""))
    if let simulation = campaign.simulation {
      session.console.note("  simulated boards at \(simulation.speed) times real time")
    }
    for image in campaign.images.values.sorted(by: { $0.package.name < $1.package.name }) {
      session.console.note("  " + image.package.parts.map(\.summary).joined(separator: ", "))
    }
  }
}
#endif
