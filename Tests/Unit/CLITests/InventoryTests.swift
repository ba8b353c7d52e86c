import Foundation
import Testing

@testable import OtaflashConsole
@testable import OtaflashProgram
@testable import otaflash

/// Tests of device records, which are listed, filtered, shown, and used by campaigns.
@Suite(.waitsForPrograms) struct InventoryTests {
  private static let image = "\(Program.root.path)/firmware-samples/app-1.3.0.bin"
  private static let old = "\(Program.root.path)/firmware-samples/blink-1.0.0.bin"

  private static func campaign(_ rest: String, image: String = image) -> [UInt8] {
    Array("campaign: doors\nimage: \(image)\nflash: {allow-downgrade: true}\n\(rest)\n".utf8)
  }

  private let program: Program

  init() throws { program = try Program() }

  private func devices(_ words: String...) throws -> [[String: Any]] {
    let run = try program.run(["devices"] + words + ["--json"])
    #expect(run.status == 0, "\(run.errors)")
    try Program.checkEvents(of: run)
    return try run.output.split(separator: "\n").compactMap { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
  }

  private func rows(_ events: [[String: Any]], _ type: String = "known_device") -> [[String: Any]] {
    events.filter { $0["type"] as? String == type }
  }

  @Test func infoAfterACampaignKeepsTheRecord() throws {
    let file = try program.file(
      "c.yaml", Self.campaign("devices: [{id: sim:fast, name: front, board: door, site: berlin}]"))
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let row = try #require(rows(try devices()).first)
    #expect(row["outcome"] as? String == "flashed", "\(row)")
    #expect(row["name"] as? String == "front")
    #expect(row["version"] as? String == "1.3.0")
    let shown = try program.run(["devices", "show", "sim:fast"])
    #expect(shown.status == 0, "\(shown.errors)")
    #expect(shown.output.contains(/version +1\.3\.0, read 2/), "\(shown.output)")
    #expect(shown.output.contains(/board +door/) && shown.output.contains(/site +berlin/))
    #expect(
      shown.output.contains(/[0-9a-f]{6} +doors +.*Z +updated +1\.2\.0 +1\.3\.0 +1/),
      "\(shown.output)")
    let report = try program.run(["fleet", "report", "--json"])
    try Program.checkEvents(of: report)
    #expect(
      report.output.contains(/"type":"fleet_report_device",.*"device":"sim:fast","name":"front"/))
    let history = rows(try devices("show", "sim:fast"), "device_run")
    #expect(history.count == 1 && history.first?["outcome"] as? String == "succeeded")
  }

  @Test func devicesAreFilteredByTheVersionThatTheyReported() throws {
    let seen = ["sim:fast", "sim:fast?version=1.4.0&seed=2"]
    for device in seen { #expect(try program.run(["info", "-d", device]).status == 0) }
    func ids(_ condition: String) throws -> Set<String> {
      Set(rows(try devices("--version", condition)).compactMap { $0["id"] as? String })
    }
    #expect(try ids("<1.4.0") == ["sim:fast"])
    #expect(try ids("1.4.0") == [seen[1]])
    #expect(try ids(">=1.2.0,<1.4.0") == ["sim:fast"])
    #expect(try ids("!=1.2.0") == [seen[1]])
    #expect(try ids(">2.0.0").isEmpty)
    let wrong = try program.run(["devices", "--version", "<1.4"])
    #expect(wrong.status == 64 && wrong.errors.contains("'<1.4' is not a version condition"))
    #expect(try program.run(["devices", "--version"]).status != 0)
    #expect(try program.run(["--version"]).output.contains(Release.version))
    let unknown = try program.run(["devices", "show", "C0:FF:EE:00:00:09"])
    #expect(unknown.status == 69 && unknown.code == "E-DEVICE-NOT-FOUND", "\(unknown.errors)")
  }

  /// Devices with 1.3.0 receive 1.0.0; a device with another version does not.
  @Test func aRollbackIsACampaignOverKnownDevices() throws {
    let devices = ["sim:fast", "sim:fast?seed=2"]
    for device in devices {
      let flash = try program.run(["flash", Self.image, "-d", device])
      #expect(flash.status == 0, "\(flash.errors)")
    }
    #expect(try program.run(["info", "-d", "sim:fast?seed=3"]).status == 0)
    let file = try program.file(
      "back.yaml", Self.campaign("devices-from: known\nselect: version=1.3.0", image: Self.old))
    let plan = try program.run(["fleet", "plan", file])
    #expect(plan.status == 0 && plan.output.contains("2 devices, 1 wave"), "\(plan.output)")
    #expect(plan.output.contains("1 device excluded by 'select'"), "\(plan.output)")
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 0 && run.output.contains("2 devices run 1.0.0"), "\(run.output)")
    // The devices run another version now, but the campaign remains ended.
    let again = try program.run(["fleet", "run", file, "--no-input"])
    #expect(again.status == 0 && again.errors.contains("has ended"), "\(again.errors)")
    let none = try program.run(["fleet", "run", file, "--no-input", "--again"])
    #expect(none.status == 78 && none.errors.contains("matches no device"), "\(none.errors)")
  }

  /// A board of a simulated fleet has no name that the option `-d` accepts.
  @Test func boardsOfASimulatedFleetAreNotKnownDevices() throws {
    let simulated = try program.file("s.yaml", Self.campaign("devices: [\"sim-fleet:2?speed=10\"]"))
    let run = try program.run(["fleet", "run", simulated, "--no-input"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let file = try program.file(
      "k.yaml", Self.campaign("devices-from: known\nselect: version<2.0.0"))
    let plan = try program.run(["fleet", "plan", file])
    #expect(plan.status == 0 && plan.output.contains("1 device, 1 wave"), "\(plan.errors)")
  }

  /// The first device was updated before the interruption, so `select` no longer matches it.
  @Test func anInterruptedCampaignOverVersionsIsResumedWithItsDevices() throws {
    for device in ["sim:fast", "sim:fast?seed=2"] {
      #expect(try program.run(["info", "-d", device]).status == 0)
    }
    let waves = "waves: [{devices: 1, approve: true}, {devices: rest}]"
    let file = try program.file(
      "up.yaml", Self.campaign("devices-from: known\nselect: version<1.3.0\n\(waves)"))
    let paused = try program.run(["fleet", "run", file, "--no-input"])
    #expect(paused.status == 4, "\(paused.errors)")
    #expect(try program.run(["fleet", "resume"]).status == 0)
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 0 && run.output.contains("2 devices run 1.3.0"), "\(run.errors)")
  }
}
