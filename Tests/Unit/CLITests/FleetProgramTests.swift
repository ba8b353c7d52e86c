import Foundation
import OtaflashFleetHost
import Testing

/// Tests of `otaflash fleet`, which run the program as a shell does, over simulated boards. The
/// boards' clock is faster than the wall clock, but slow enough that a busy machine does not look
/// like a slow device.
@Suite(.waitsForPrograms) struct FleetProgramTests {
  private static let image = "\(Program.root.path)/firmware-samples/blink-1.0.0.bin"

  private static func campaign(
    _ rest: String = "", fleet: String = "sim-fleet:6?speed=10", image: String = image
  ) -> String {
    """
    campaign: doors
    image: \(image)
    devices: ["\(fleet)"]
    retries: {first-delay: 1s, longest-delay: 2s, link: 8}
    flash: {mode: without-response, allow-downgrade: true}
    \(rest)
    """
  }

  private let program: Program

  init() throws { program = try Program() }

  private func write(_ text: String, as name: String = "c.yaml") throws -> String {
    try program.file(name, text.utf8)
  }

  private func fleet(_ words: String...) throws -> Program.Outcome {
    try program.run(["fleet"] + words)
  }

  private var store: URL { program.home.appending(path: "otaflash/fleet.sqlite") }

  // MARK: A run

  @Test func aRunUpdatesEveryDeviceAndTheSameCommandPrintsTheResult() throws {
    let file = try write(
      Self.campaign(fleet: "sim-fleet:12?adapters=2&revert=10%&away=10%&speed=10"))
    let run = try fleet("run", file, "--json")
    #expect(run.status == 3, "\(run.errors)")
    try Program.checkEvents(of: run)
    let last = try #require(run.output.split(separator: "\n").last)
    let result = try #require(
      try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: Any])
    let devices = try #require(result["devices"] as? [[String: Any]])
    #expect(devices.count == 12)
    #expect(Set(devices.compactMap { $0["outcome"] as? String }).isSuperset(of: ["flashed"]))
    let again = try fleet("run", file)
    #expect(again.status == 3)
    #expect(again.errors.contains("--again starts another"), "\(again.errors)")
    let list = try fleet("list").output.split(separator: "\n")
    #expect(list.count == 2 && list[1].contains(" ago") || list[1].contains("just now"))
    // A shell completes the name of the run.
    let names = FleetFolder.runNames(environment: program.environment)
    #expect(names.count == 1 && list[1].hasPrefix(names[0]))
    #expect(FleetFolder.runNames(environment: try Program().environment).isEmpty)
  }

  @Test func aPlanWritesNothing() throws {
    let file = try write(Self.campaign())
    let plan = try fleet("plan", file)
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.output.contains("board-0006"))
    #expect(!FileManager.default.fileExists(atPath: store.path))
    let forecast = try fleet("plan", file, "--forecast", "--seeds", "2", "--json")
    #expect(forecast.status == 0, "\(forecast.errors)")
    #expect(forecast.output.contains(#""type":"fleet_forecast""#))
    #expect(!FileManager.default.fileExists(atPath: store.path))
  }

  @Test func aForecastUsesEarlierRuns() throws {
    let text = """
      campaign: bench
      image: \(Self.image)
      devices: ["sim:fast", "sim:fast?seed=2", "sim:fast?seed=3", "unix:\(program.home.path)/none"]
      retries: {link: 1}
      waves: [{devices: rest, seen: 0%, stop: 100%}]
      flash: {allow-downgrade: true}
      """
    let file = try write(text)
    #expect(try !fleet("plan", file, "--forecast", "--seeds", "1").errors.contains("as in"))
    #expect(try fleet("run", file).status == 3)
    let plan = try fleet("plan", file, "--forecast", "--seeds", "1")
    #expect(plan.status == 0, "\(plan.errors)")
    let words = "as in 1 earlier run of these devices: sim-fleet:4?adapters=2&away=25.0%"
    #expect(plan.errors.contains(words), "\(plan.errors)")
    #expect(plan.output.contains("3 updated, 1 not found"), "\(plan.output)")
    #expect(plan.output.contains("calculated with complete images"), "\(plan.output)")
    let events = try fleet("plan", file, "--forecast", "--seeds", "1", "--json")
    #expect(events.output.contains(#""counts_whole_images":true"#), "\(events.output)")
    try Program.checkEvents(of: events)
  }

  /// Approvals reach the run from another process.
  @Test func anotherProcessApprovesAndIsAnswered() throws {
    let waves = """
      waves:
        - {name: canary, devices: 1, approve: true}
        - {name: all, devices: rest}
      """
    let file = try write(Self.campaign(waves))
    let refused = try fleet("run", file, "--no-input")
    #expect(refused.status == 4)
    #expect(refused.code == "E-FLEET-PAUSED", "\(refused.errors)")
    #expect(try fleet("status").output.contains("no process is working on the run"))
    let run = try program.start(["fleet", "run", file])
    try #require(run.waitUntilItSays("continued"))
    #expect(try !fleet("status").output.contains("no process is working on the run"))
    let second = try fleet("run", file)
    #expect(second.status == 69)
    #expect(second.code == "E-FLEET-RUN-HELD", "\(second.errors)")
    let resumed = try fleet("resume")
    #expect(resumed.status == 0, "\(resumed.errors)")
    let ended = run.end()
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(ended.output.contains("All 6 devices run 1.0.0"), "\(ended.output)")
    #expect(try fleet("resume").status == 5)
  }

  /// A refused command ends with exit status 5, so that a script does not consider the command
  /// accepted.
  @Test func aRefusedRequestIsAnErrorAlsoWhileAProcessWorks() throws {
    let file = try write(Self.campaign("window: {from: \"00:00\", to: \"00:01\", days: [mon]}"))
    let run = try program.start(["fleet", "run", file])
    try #require(run.waitUntilItSays("6 devices"))
    while try fleet("status").output.contains("no process is working on the run") {}
    #expect(try fleet("pause").status == 0)
    for words in [["pause"], ["retry", "", "board-9999"]] {
      let name =
        try program.run(["fleet", "list"]).output.split(separator: "\n").last?.prefix(6) ?? ""
      let refused = try program.run(
        ["fleet"] + words.map { $0.isEmpty ? String(name) : $0 } + ["--json"])
      #expect(refused.status == 5, "\(refused.output)")
      #expect(refused.output.contains(#""outcome":"refused""#), "\(refused.output)")
    }
    let unconfirmed = try fleet("cancel")
    #expect(unconfirmed.status == 5, "\(unconfirmed.errors)")
    #expect(unconfirmed.errors.contains(/help: .* fleet cancel [0-9a-f]{6} --yes/))
    let cancelled = try fleet("cancel", "--yes")
    #expect(cancelled.status == 0, "\(cancelled.errors)")
    #expect(
      cancelled.output.contains(/run [0-9a-f]{6} \(doors\): cancelled/), "\(cancelled.output)")
    #expect(run.end().status == 4)
  }

  @Test func aRetryShowsTheDevicesAndTheCommand() throws {
    let file = try write(Self.campaign(fleet: "sim-fleet:4?revert=60%&seed=7&speed=10"))
    #expect(try fleet("run", file).status == 3)
    let id = try #require(try fleet("list").output.split(separator: "\n").last?.prefix(6))
    let retry = try fleet("retry", String(id))
    #expect(retry.status == 0, "\(retry.errors)")
    #expect(retry.output.contains(/to try [1-4] devices? again/), "\(retry.output)")
    #expect(retry.output.contains("board-000"), "\(retry.output)")
    #expect(retry.output.contains(/next: .* fleet run .*c\.yaml/), "\(retry.output)")
    let cancelled = try fleet("cancel", "--yes")
    #expect(cancelled.status == 0, "\(cancelled.errors)")
    #expect(try fleet("list").output.contains("cancelled"))
  }

  /// A continued run uses the devices of its first scan with their keys, and does not select
  /// devices again.
  @Test func aScanCampaignIsContinuedWithItsDevicesAndKeys() throws {
    _ = try program.file("key.bin", [UInt8](repeating: 7, count: 32))
    let file = try write(
      """
      campaign: doors
      image: \(Self.image)
      devices-scan: {name: "door-*", key-file: key.bin, for: 1s}
      select: rssi>=-100
      waves: [{devices: 1, approve: true}, {devices: rest}]
      flash: {allow-downgrade: true, allow-unknown: true, mode: without-response}
      """)
    let first = try fleet("run", file, "--adapter", "sim", "--no-input")
    #expect(first.status == 4, "\(first.errors)")
    #expect(try fleet("resume").status == 0)
    let second = try fleet("run", file, "--no-input")
    #expect(second.status == 0, "\(second.errors)\(second.output)")
    #expect(!second.errors.contains("scanning for devices"), "\(second.errors)")
    #expect(try fleet("run", Self.listed(in: self), "--adapter", "sim").status == 64)
  }

  private static func listed(in tests: FleetProgramTests) throws -> String {
    try tests.write(campaign(), as: "listed.yaml")
  }

  @Test func aStoppedRunContinuesWithItsFirstImage() throws {
    let copy = try program.file(
      "image.bin", try Data(contentsOf: URL(filePath: Self.image)))
    let waves = "waves:\n  - {devices: 1, approve: true}\n  - {devices: rest}"
    let file = try write(Self.campaign(waves, image: copy))
    #expect(try fleet("run", file, "--no-input").status == 4)
    _ = try program.file("image.bin", Array("no firmware".utf8))
    #expect(try fleet("resume").status == 0)
    let changed = try fleet("run", file)
    // A file that is not an image is refused, even if the run has stored its image.
    #expect(changed.status == 65, "\(changed.errors)")
    _ = try program.file(
      "image.bin",
      try Data(contentsOf: Program.root.appending(path: "firmware-samples/app-1.2.0.bin")))
    let gone = try fleet("run", file)
    #expect(gone.status == 0, "\(gone.errors)")
    #expect(gone.errors.contains("has changed"), "\(gone.errors)")
    #expect(gone.output.contains("All 6 devices run 1.0.0"), "\(gone.output)")
  }

  @Test func aChangedCampaignRequiresANewRun() throws {
    let waves = "waves:\n  - {devices: 1, approve: true}\n  - {devices: rest}"
    let file = try write(Self.campaign(waves))
    #expect(try fleet("run", file, "--no-input").status == 4)
    _ = try write(Self.campaign())
    let changed = try fleet("run", file)
    #expect(changed.status == 78)
    #expect(changed.code == "E-CAMPAIGN", "\(changed.errors)")
    #expect(try fleet("run", file, "--again").status == 0)
    let list = try fleet("list").output
    #expect(list.contains("cancelled") && list.contains("complete"), "\(list)")
  }

  @Test func hooksRunAroundDevices() throws {
    let hooks = """
      hooks:
        before-device: 'test "$OTAFLASH_HOOK_DEVICE" != board-0002'
        after-device: [touch, done]
      """
    let run = try fleet("run", try write(Self.campaign(hooks)))
    #expect(run.status == 3, "\(run.errors)")
    #expect(run.errors.contains("skipped board-0002"), "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: program.home.path + "/done"))
  }

  // MARK: Reports

  @Test func aReportIsWrittenAndAChangedEventIsFound() throws {
    #expect(try fleet("run", try write(Self.campaign())).status == 0)
    let home = program.home.path
    let files = ["--html", home + "/r.html", "--junit", home + "/r.xml", "--csv", home + "/r.csv"]
    let report = try program.run(["fleet", "report"] + files)
    #expect(report.status == 0, "\(report.errors)")
    #expect(
      try program.run(["fleet", "report"] + files).status == 0, "reports replace earlier reports")
    #expect(
      try fleet("report", "--html", home + "/c.yaml").status == 73, "no other file is replaced")
    let edit = """
      import sqlite3, sys
      db = sqlite3.connect(sys.argv[1])
      for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
          db.execute("DROP TRIGGER " + name)
      db.execute("UPDATE event SET payload = replace(payload, 'board-0003', 'board-0004') WHERE number = 7")
      db.execute("UPDATE event SET at = at + 1 WHERE number = 9")
      db.commit()
      """
    let edited = try Program.runTool(["python3", "-c", edit, store.path])
    #expect(edited.status == 0, "\(edited.errors)")
    let found = try fleet("report", "--verify")
    #expect(found.status == 65)
    #expect(found.code == "E-FLEET-CHAIN")
    #expect(found.errors.contains(/event [79] was changed/), "\(found.errors)")
  }

  // MARK: Refusals

  @Test(arguments: [
    ("campaign: x\nimage: nowhere.bin\ndevices: [\"sim:fast\"]", 66, "E-FILE"),
    ("campaign: x\nimagee: y\ndevices: [\"sim:fast\"]", 78, "E-CAMPAIGN"),
    ("campaign: x\nimage: y\ndevices: [\"name:door\"]", 78, "E-CAMPAIGN"),
    ("campaign: x\nimage: y\ndevices: [\"door\"]", 78, "E-CAMPAIGN"),
    ("campaign: x\nimage: y\ndevices: [\"sim-fleet:0\"]", 78, "E-CAMPAIGN"),
    ("campaign: x\nimage: y\ndevices: [\"sim-fleet:2\", \"sim:fast\"]", 78, "E-CAMPAIGN"),
    ("campaign: x\nimage: y\ndevices-file: none.csv", 66, "E-FILE"),
    ("a: &a [b]\nc: *a", 78, "E-CAMPAIGN"),
  ])
  func errorsAreReportedBeforeTheRunStarts(_ text: String, _ status: Int32, _ code: String) throws {
    let outcome = try fleet("run", try write(text))
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.code == code, "\(outcome.errors)")
    #expect(try fleet("list").output.isEmpty)
  }

  /// No host has an adapter with the number 99.
  @Test func aRunRequiresAnAdapter() throws {
    let file = try write(
      Self.campaign().replacing(#"["sim-fleet:6?speed=10"]"#, with: #"["C0:FF:EE:00:00:01"]"#))
    let outcome = try fleet("run", file, "--adapters", "hci99")
    #expect(outcome.status == 69, "\(outcome.errors)")
    #expect(outcome.code == "E-NO-ADAPTER", "\(outcome.errors)")
    #expect(try fleet("list").output.isEmpty)
  }

  @Test func aMissingRunIsReported() throws {
    for words in [["status"], ["report"], ["pause"], ["cancel"], ["retry", "x"]] {
      let outcome = try program.run(["fleet"] + words)
      #expect(outcome.status == 66, "\(outcome.errors)")
      #expect(outcome.code == "E-FLEET-RUN")
    }
    #expect(try fleet("run", "nowhere.yaml").status == 66)
  }

  @Test func anUnusableStoreIsReported() throws {
    let folder = program.home.appending(path: "otaflash")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("no database".utf8).write(to: store)
    let outcome = try fleet("run", try write(Self.campaign()))
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("the damaged store of runs is now"), "\(outcome.errors)")
  }

  /// Boards with three different protocols.
  @Test func theExampleOfMixedBoardsRuns() throws {
    _ = try program.run(["info", "-d", "sim:fast?seed=99"])
    let run = try fleet("run", "Examples/campaign-boards.yaml")
    #expect(run.status == 0, "\(run.errors)\(run.output)")
    let live = try fleet("plan", "Examples/campaign-boards.yaml", "--live")
    #expect(live.status == 0, "\(live.errors)")
    #expect(live.output.contains("already runs it"), "\(live.output)")
    let devices = try program.run(["devices"]).output
    for device in ["sim:fast?seed=99", "sim:smp?seed=2", "sim:fast?seed=1 "] {
      #expect(devices.contains(device), "\(devices)")
    }
  }

  @Test(arguments: ["campaign-canary", "campaign-sim"])
  func theOtherExamplesCanBePlanned(_ name: String) throws {
    let plan = try fleet("plan", "Examples/\(name).yaml")
    #expect(plan.status == 0, "\(plan.errors)")
  }
}
