#if Sites
import OtaflashDevices
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetHost
import OtaflashFleetStore

/// A run of a campaign over many sites, with all data that the coordinator needs for the run.
struct SiteRun: Sendable {
  let campaign: LoadedCampaign
  let kept: KeptRun
  /// The digests of the images.
  let images: Set<String>

  var folder: String { OutputFolder.of(campaign.path) }
}

enum OutputFolder {
  static func of(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }
}

/// Reads campaigns, and finds or starts their runs.
struct SiteCampaigns: Sendable {
  let store: FleetStore
  let session: Session
  /// Whether campaigns may have hooks, which are programs on the hosts of the coordinator and the
  /// gateways.
  let permitsHooks: Bool

  /// Starts a run of a campaign, or continues its open run. If the last run of the unchanged
  /// campaign has ended, starts a run only if `again` is `true`.
  ///
  /// - Returns: the run and its id; the run is `nil` if it has ended.
  func start(
    _ path: String, by person: String, again: Bool
  ) async throws(CommandFault) -> (run: SiteRun?, id: String) {
    let text = try CampaignText(path: path, aliases: session.aliases(), now: .now)
    try check(text)
    let start = FleetStart(store: store, again: again, person: person, session: session)
    let last = try await start.last(try start.newest(of: text.file.campaign.name))
    let loaded: LoadedCampaign
    if let last, !again, last.kept.digest == text.digest {
      loaded = try LoadedCampaign(text, resuming: last.run, now: .now)
      if FleetStart.isDone(last, loaded) { return (nil, last.kept.id) }
    } else if let last, !again, last.isOpen {
      throw .fleet(.changed(run: last.kept.id, campaign: path))
    } else {
      loaded = try LoadedCampaign(text, known: try text.knownDevices(in: session), now: .now)
    }
    try check(loaded)
    let started = try await start.run(for: loaded, after: last)
    return (
      SiteRun(campaign: loaded, kept: started.run, images: Set(started.packages.keys)),
      started.run.id
    )
  }

  /// Returns the runs that have not ended.
  func open() async throws(CommandFault) -> [KeptRun] {
    var open: [KeptRun] = []
    do throws(StorageFault) {
      for kept in try store.runs() {
        if case .runEnded = try store.lastTurn(of: kept.id) { continue }
        open.append(kept)
      }
    } catch {
      throw .fleet(.store(error))
    }
    return open
  }

  /// Reads the campaign of an open run again.
  func resume(_ kept: KeptRun) async throws(CommandFault) -> SiteRun {
    _ = try store.checkedChain(of: kept.id)
    let run = FleetRun(try await store.history(of: kept.id))
    guard let path = run.beginning?.file else { throw .fleet(.noEvents(of: kept.id)) }
    let text = try CampaignText(path: path, aliases: session.aliases(), now: .now)
    guard text.digest == kept.digest else {
      throw .fleet(.changed(run: kept.id, campaign: path))
    }
    let loaded = try LoadedCampaign(text, resuming: run, now: .now)
    return SiteRun(
      campaign: loaded, kept: kept, images: Set(run.devices.map(\.device.image)))
  }

  private func check(_ text: CampaignText) throws(CommandFault) {
    if text.simulation != nil {
      throw .sites(
        .campaign(
          path: text.path,
          words: "a simulated fleet has no sites; run it with 'otaflash fleet run'"))
    }
    if text.file.devicesScan != nil {
      throw .sites(
        .campaign(
          path: text.path,
          words: "the coordinator has no adapters to scan with; list the devices with their sites"))
    }
    if !permitsHooks, !text.file.campaign.hooks.commands.isEmpty {
      throw .sites(
        .campaign(
          path: text.path,
          words: "hooks are programs on other hosts; start the coordinator with --permit-hooks"))
    }
  }

  private func check(_ campaign: LoadedCampaign) throws(CommandFault) {
    let devices = campaign.plan.waves.flatMap(\.devices)
    guard let device = devices.first(where: { $0.site == nil }) else { return }
    throw .sites(
      .campaign(
        path: campaign.path,
        words: "device \(device.id) has no site; add the key 'site' with the name of the site"))
  }
}
#endif
