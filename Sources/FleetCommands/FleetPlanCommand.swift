#if Fleet
import ArgumentParser
import OtaflashConsole
import OtaflashDevices
import OtaflashFleet
import OtaflashFleetForecast
import OtaflashFleetHost
import OtaflashSimulation
import OtaflashUpdate

/// Checks a campaign, and shows its effect; changes nothing.
struct FleetPlanCommand: Subcommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Check a campaign and show its effect; nothing is changed.")
  static let words = "fleet plan"
  static let takesSimulatedAir = true

  private static let columns = ["DEVICE", "NAME", "BOARD", "SITE", "IMAGE", ""]
  /// The maximum number of devices shown per wave; -v and --live show all.
  private static let shownMaximum = 12

  @Argument(help: "The campaign file; see otaflash-campaign(5).", completion: .file())
  var campaign: String

  @Flag(name: .long, help: "Connect to each device, and check whether its image fits.")
  var live = false

  @Flag(
    name: .long,
    help: "Simulate the campaign, and show its duration and the changes that shorten it.")
  var forecast = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The number of simulated runs, each with a different seed.", valueName: "number"))
  var seeds: WholeNumber = 5

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The time limit of the forecast; runs that exceed it are omitted, except for the first run.",
      valueName: "duration"),
    transform: TimeSpan.parse)
  var forecastTime: TimeSpan = TimeSpan(.seconds(120))

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The simulated fleet for the forecast: sim-fleet:N?adapters=2&loss=1%.",
      valueName: "fleet"))
  var fleet: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Save the plan for 'fleet run --plan', which runs only the reviewed plan.",
      valueName: "path"),
    completion: .file())
  var save: String?

  @OptionGroup var global: GlobalOptions

  var inputFiles: [String] { [campaign] }

  func validate() throws {
    guard (1...1000).contains(seeds.value) else {
      throw ValidationError("--seeds \(seeds.value) is out of range; specify 1 to 1000")
    }
    if let fleet, !fleet.hasPrefix(FleetProfile.prefix) {
      throw ValidationError("'\(fleet)' is not a simulated fleet; write sim-fleet:N?key=value")
    }
  }

  func perform(in session: Session) async throws(CommandFault) -> Ending {
    let text = try CampaignText(path: campaign, aliases: session.aliases(), now: .now)
    try text.checkAir(of: global)
    var found: [FleetDevice] = []
    if let scan = text.file.devicesScan {
      found = try await FleetScan(scan).devices(
        on: global.adapterNumber.map { [$0] }, in: session)
    }
    let known = try text.knownDevices(in: session)
    let loaded = try LoadedCampaign(text, found: found, known: known, now: .now)
    loaded.noteUndecided(in: session)
    let review = PlanReview(loaded, now: .now)
    let prospects = live ? try await FleetProspects(loaded, session).look() : [:]
    try await show(review, of: loaded, in: session)
    printResult(loaded, prospects, in: session)
    if let save { try review.save(to: save, in: session) }
    if forecast {
      try await ForecastRenderer(
        loaded, fleet, seeds: seeds.value, limit: forecastTime.duration, session
      ).render()
    }
    let rest =
      (global.adapter.map { ["--adapter", $0] } ?? []) + (save.map { ["--plan", $0] } ?? [])
    session.console.note("next:   " + session.context.command(["fleet", "run", campaign] + rest))
    return .done("planned")
  }

  /// Shows the images, the options, and the changes since the last run.
  private func show(
    _ review: PlanReview, of campaign: LoadedCampaign, in session: Session
  ) async throws(CommandFault) {
    let plan = campaign.plan
    let last: (run: String, words: [String])? =
      if let store = try FleetFolder(of: session).look() {
        try await review.changesSinceLastRun(in: store)
      } else {
        nil
      }
    session.console.result(
      "\(plan.campaign.name)  " + Text.counted(plan.deviceCount, "device") + ", "
        + Text.counted(plan.waves.count, "wave"))
    for image in campaign.images.values.sorted(by: { $0.package.name < $1.package.name }) {
      session.console.result(
        "  " + image.package.parts.map(\.summary).joined(separator: ", ") + "  SHA-256 "
          + image.blob.fileDigest)
    }
    let settings = review.saved.settings
    for line in Text.table(settings.map { [$0.name, $0.words] }) {
      session.console.result("  " + line)
    }
    if let last {
      session.console.result(
        last.words.isEmpty ? "no changes since run \(last.run)" : "changes since run \(last.run)")
      for change in last.words { session.console.result("  " + change) }
    }
    session.console.event(
      "fleet_plan",
      [
        "campaign": .string(plan.campaign.name), "devices": .integer(plan.deviceCount),
        "waves": .integer(plan.waves.count), "digest": .string(campaign.digest),
        "settings": .array(
          settings.map {
            .object(
              JSONValue.fields(["name": .string($0.name), "words": .string($0.words)]))
          }),
        "images": .array(
          review.saved.images.map {
            .object(JSONValue.fields(["file": .string($0.file), "sha256": .string($0.sha256)]))
          }),
        "last_run": .text(last?.run),
        "changes": last.map { .array($0.words.map { .string($0) }) },
      ])
  }

  private func printResult(
    _ campaign: LoadedCampaign, _ prospects: [FleetDevice.ID: FleetProspects.Prospect],
    in session: Session
  ) {
    let plan = campaign.plan
    session.console.result("  " + plan.campaign.flash.delta.words)
    for (index, planned) in plan.waves.enumerated() {
      session.console.result(
        "wave \(index + 1)  \(planned.wave.name)  \(planned.wave.rules(of: planned.devices.count))")
      var rows = [Self.columns]
      for device in planned.devices {
        let image = plan.campaign.image(for: device) ?? ""
        let prospect = prospects[device.id]
        session.console.event(
          "fleet_planned",
          [
            "wave": .integer(index + 1), "device": .string(device.id),
            "name": .text(device.name), "board": .text(device.board), "site": .text(device.site),
            "image": .string(image), "prospect": .text(prospect?.name),
            "words": .text(prospect?.words),
          ])
        rows.append([
          device.id, device.name ?? "", device.board ?? "", device.site ?? "", image,
          prospect?.words ?? "",
        ])
      }
      let isCut = rows.count - 1 > Self.shownMaximum && session.global.verbose == 0 && !live
      let shown = isCut ? Array(rows.prefix(Self.shownMaximum + 1)) : rows
      for line in Text.table(Self.informative(shown, hasOneImage: campaign.images.count == 1)) {
        session.console.result("  " + line)
      }
      if isCut {
        session.console.result("  and \(Text.grouped(rows.count - shown.count)) more; -v shows all")
      }
    }
    if !plan.leftOut.isEmpty {
      session.console.result(Text.counted(plan.leftOut.count, "device") + " excluded by 'select'")
    }
  }

  /// Omits columns without a value, and the image that the headline already names.
  private static func informative(_ rows: [[String]], hasOneImage: Bool) -> [[String]] {
    let columns = columns.indices.filter { column in
      rows.dropFirst().contains { !$0[column].isEmpty }
        && !(hasOneImage && Self.columns[column] == "IMAGE")
    }
    return rows.map { row in columns.map { row[$0] } }
  }
}

extension DeltaPolicy {
  fileprivate var words: String {
    switch self {
    case .auto: "as patches, if a device supports patches and a patch is faster"
    case .never: "as complete images, never as patches"
    case .require: "only as patches: the update of a device without a patch fails"
    }
  }
}

extension Wave {
  /// Returns the rules of the wave, as text.
  fileprivate func rules(of size: Int) -> String {
    let stop = thresholds.stop.devices(of: size)
    var parts = [
      Text.counted(size, "device"),
      (thresholds.stopAction == .pause ? "pauses" : "stops") + " at \(Text.grouped(stop)) failed",
      "continues at \(thresholds.successPercent)% success",
    ]
    if soak > .zero { parts.append("soaks \(Text.clock(soak))") }
    if needsApproval { parts.append("then waits for approval") }
    return parts.joined(separator: ", ")
  }
}
#endif
