#if Fleet
import Foundation
import OtaflashFirmware
import OtaflashFleet
import OtaflashFleetStore
import OtaflashState
import Testing

@testable import OtaflashFleetHost

/// Tests of the entries that campaigns make in the registry of devices.
@Suite(.waitsForPrograms) struct CampaignDevicesTests {
  private static let image = "\(Program.root.path)/firmware-samples/app-1.3.0.bin"

  private static func time(_ second: Int) -> WallClockTime {
    WallClockTime(milliseconds: Int64(second) * 1000)
  }

  private static let figures = UpdateFigures(
    from: FirmwareVersion(1, 2, 0), to: FirmwareVersion(1, 3, 0), proof: "read-back", bytes: 1,
    uploadMilliseconds: 1, resumes: 0)

  /// Returns the events of a run with six attempts, which end differently at second 10, 11, …, 15.
  private static func events(_ name: (String) -> String = { "unix:/\($0)" }) -> [RecordedEvent] {
    let endings: [AttemptEnding] = [
      .updated(figures), .current(version: FirmwareVersion(1, 3, 0)),
      .failed(AttemptFailure(.device, code: "reverted", words: "w")),
      .failed(AttemptFailure(.link, code: "link-lost", words: "w")),
      .failed(AttemptFailure(.infrastructure, code: "disk-full", words: "w")),
      .returned(.notHeard),
    ]
    let ids = ["a", "b", "c", "d", "e", "f"].map(name)
    let devices = ids.map {
      RunDevice(id: $0, name: "door", board: "door", site: "berlin", tags: ["x"], image: "i")
    }
    var events: [(Int, FleetEvent)] = [
      (0, .runBegan(RunBeginning(id: "r1", campaign: "doors", digest: "d", devices: 6, waves: 1))),
      (0, .wavePlanned(wave: 0, name: "all", devices: devices)), (0, .waveBegan(wave: 0)),
    ]
    for (index, ending) in endings.enumerated() {
      let id = ids[index]
      events += [
        (10 + index, .devicePublished(device: id, attempt: 1, verifyFirst: false)),
        (10 + index, .deviceClaimed(device: id, attempt: 1, worker: "w")),
        (10 + index, .attemptEnded(device: id, attempt: 1, ending: ending)),
      ]
    }
    return events.enumerated().map {
      RecordedEvent(number: $0 + 1, at: time($1.0), event: $1.1)
    }
  }

  @Test func aRunCreatesRecords() throws {
    let run = FleetRun(Self.events())
    let records = run.devices.compactMap { DeviceRecord($0) }
    #expect(
      records.map(\.id) == ["unix:/a", "unix:/b", "unix:/c", "unix:/d"],
      "the devices that were reached")
    #expect(
      records.map { $0.lastFlashing?.outcome }
        == [.flashed, .alreadyCurrent, .failed, .interrupted])
    #expect(records[0].lastVersion == .init(version: FirmwareVersion(1, 3, 0), at: 10))
    #expect(records[1].lastConnected == 11 && records[1].lastSeen == 11)
    #expect(records.allSatisfy { $0.name == "door" && $0.board == "door" && $0.tags == ["x"] })
  }

  /// If the process is killed after the activation, the device runs the image and counts as updated
  /// by the run.
  @Test func anUpdateBeforeAKillCounts() throws {
    var run = FleetRun(Self.events())
    run.apply(.deviceSettled(device: "unix:/b", ending: .updated), at: Self.time(30))
    let record = try #require(run["unix:/b"].flatMap { DeviceRecord($0) })
    #expect(record.lastFlashing?.outcome == .flashed)
  }

  @Test func boardsOfSimulatedFleetsHaveNoRecord() {
    let run = FleetRun(Self.events { "board-\($0)" })
    #expect(run.devices.compactMap { DeviceRecord($0) }.isEmpty)
  }

  /// If the store has the device table of a former version, commands list the devices of its runs.
  /// The first campaign adds these devices to the registry, and removes the table.
  @Test func theDevicesOfAFormerStoreMoveToTheRegistry() async throws {
    let program = try Program()
    #expect(try program.run(["info", "-d", "sim:fast"]).status == 0)
    let path = program.home.path + "/otaflash/fleet.sqlite"
    let store = try FleetStore(path: path)
    try await store.ledger(of: "r1").append(Self.events().map(\.event), at: Self.time(10))
    let python = try Program.runTool(
      [
        "python3", "-c",
        "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("
          + "'CREATE TABLE device (id TEXT PRIMARY KEY); CREATE TABLE taken_over (name TEXT)')",
        path,
      ], input: "")
    #expect(python.status == 0, "\(python.errors)")
    func listed() throws -> Int {
      try program.run(["devices", "--json"]).output.split(separator: "\n").count {
        $0.contains("unix:/")
      }
    }
    #expect(try listed() == 4)
    #expect(try FleetStore(path: path, isReadOnly: true).hasFormerDevices())
    let file = try program.file(
      "c.yaml",
      Array("campaign: c\nimage: \(Self.image)\ndevices: [sim:fast]\n".utf8))
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(try !FleetStore(path: path, isReadOnly: true).hasFormerDevices())
    #expect(try listed() == 4)
    let kept = try String(
      contentsOfFile: program.home.path + "/otaflash/devices.json", encoding: .utf8)
    #expect(kept.contains("unix:/a") && kept.contains("sim:fast"))
  }
}
#endif
