import Foundation
import Testing

/// Tests of commands that only read runs, after crashes and on stores that cannot be written; and
/// of all commands on stores that another program changed.
@Suite(.waitsForPrograms) struct FleetReaderTests {
  private static let readers = [
    ["fleet", "status"], ["fleet", "list"], ["fleet", "report", "--verify"], ["devices"],
  ]
  private static let image = "\(Program.root.path)/firmware-samples/blink-1.0.0.bin"

  private let program: Program

  init() throws {
    program = try Program()
    let file = try program.file(
      "c.yaml",
      """
      campaign: doors
      image: \(Self.image)
      devices: ["sim:fast", "sim:fast?seed=2"]
      flash: {mode: without-response, allow-downgrade: true}
      waves:
        - {name: canary, devices: 1, approve: true}
        - {name: all, devices: rest}
      """.utf8)
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 4, "\(run.errors)")
  }

  private var state: String { program.home.path + "/otaflash" }
  private var campaign: String { program.home.path + "/c.yaml" }

  private func edit(_ python: String, ending: Int32 = 0) throws {
    let script = "import os, signal, sqlite3, sys\ndb = sqlite3.connect(sys.argv[1])\n" + python
    let outcome = try Program.runTool(["python3", "-c", script, state + "/fleet.sqlite"])
    #expect(outcome.status == ending, "\(outcome.errors)")
  }

  /// Starts a process that SIGKILL ends after pages were written and before the commit.
  private func killInsideACommit() throws {
    try edit(
      """
      db.execute("PRAGMA cache_size = 1")
      db.execute("BEGIN IMMEDIATE")
      db.execute("UPDATE run SET campaign = hex(zeroblob(200000)), length = 99")
      db.execute("INSERT INTO blob VALUES ('x', zeroblob(200000))")
      os.kill(os.getpid(), signal.SIGKILL)
      """, ending: 9)
    #expect(FileManager.default.fileExists(atPath: state + "/fleet.sqlite-journal"))
  }

  @Test(arguments: readers)
  func aReaderWorksAfterAKillInsideACommit(_ reader: [String]) throws {
    try killInsideACommit()
    let outcome = try program.run(reader)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.contains(reader == ["devices"] ? "sim:fast" : "doors"), "\(outcome.output)")
  }

  private static let canMount: Bool = {
    do {
      return try Program.runTool(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status
        == 0
    } catch {
      return false
    }
  }()

  @Test(.enabled(if: canMount, "unshare(1) may not mount here"), arguments: readers, [false, true])
  func aReaderWorksOnAReadOnlyFileSystem(_ reader: [String], _ wasKilled: Bool) throws {
    if wasKilled { try killInsideACommit() }
    let script = """
      mount --bind \(program.home.path) \(program.home.path) &&
      mount -o remount,bind,ro \(program.home.path) && exec "$0" "$@"
      """
    let outcome = try Program.runTool(
      ["unshare", "-rm", "sh", "-c", script, Program.path()] + reader,
      environment: program.environment)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(
      outcome.output.contains(reader == ["devices"] ? "sim:fast" : "doors"), "\(outcome.output)")
  }

  @Test func theListShowsTheWaitsOfARun() throws {
    #expect(try program.run(["fleet", "list"]).output.contains("waits for approval"))
    #expect(try program.run(["fleet", "resume"]).status == 0)
    #expect(try program.run(["fleet", "list"]).output.contains(/open *\n/))
    #expect(try program.run(["fleet", "cancel", "--yes"]).status == 0)
    #expect(try program.run(["fleet", "list"]).output.contains("cancelled"))
  }

  @Test func aReaderCreatesNothing() throws {
    let empty = try Program()
    for reader in Self.readers {
      let outcome = try empty.run(reader)
      #expect([0, 66].contains(outcome.status), "\(outcome.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty.home.path).isEmpty)
  }

  // MARK: Changed stores

  @Test func aRunIsNotContinuedOnChangedEvents() throws {
    try edit(
      """
      for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
          db.execute("DROP TRIGGER " + name)
      db.execute("DELETE FROM event WHERE number > (SELECT max(number) - 3 FROM event)")
      db.commit()
      """)
    let run = try program.run(["fleet", "run", campaign, "--no-input"])
    #expect(run.status == 65, "\(run.errors)")
    #expect(run.code == "E-FLEET-CHAIN", "\(run.errors)")
    #expect(run.errors.contains("3 of "), "\(run.errors)")
    let resume = try program.run(["fleet", "resume"])
    #expect(resume.code == "E-FLEET-CHAIN", "\(resume.errors)")
    let again = try program.run(["fleet", "run", campaign, "--again", "--no-input"])
    #expect(again.status == 4, "\(again.errors)")
    #expect(again.errors.contains("is left unchanged"), "\(again.errors)")
  }

  @Test func anInvalidStoreIsAFaultAndNotACrash() throws {
    try edit("db.execute('PRAGMA user_version = -1')\ndb.commit()")
    let devices = try program.run(["devices"])
    #expect(devices.status == 78, "\(devices.errors)")
    #expect(devices.code == "E-FLEET-STORE", "\(devices.errors)")
  }

  /// If the image file has changed, a run continues with the image bytes in the store. These bytes
  /// are checked before they are sent.
  @Test(arguments: [
    "UPDATE blob SET content = zeroblob(length(content))", "DELETE FROM blob",
  ])
  func anImageThatChangedInTheStoreIsNotSent(_ sql: String) throws {
    let text = try String(contentsOfFile: campaign, encoding: .utf8)
    let image = try program.file("app.bin", try Data(contentsOf: URL(filePath: Self.image)))
    let file = try program.file(
      "own.yaml",
      text.replacing(Self.image, with: image).replacing("campaign: doors", with: "campaign: own")
        .utf8)
    #expect(try program.run(["fleet", "run", file, "--no-input"]).status == 4)
    _ = try program.file("app.bin", [1, 2, 3])
    try edit(
      """
      for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
          db.execute("DROP TRIGGER " + name)
      db.execute("\(sql)")
      db.commit()
      """)
    #expect(try program.run(["fleet", "resume"]).status == 0)
    let run = try program.run(["fleet", "run", file, "--no-input"])
    #expect(run.status == 78 && run.code == "E-FLEET-STORE", "\(run.errors)")
  }

  @Test func eventsAfterTheRecordedEndAreReported() throws {
    try edit("db.execute(\"UPDATE run SET length = length - 1\")\ndb.commit()")
    let report = try program.run(["fleet", "report", "--verify"])
    #expect(report.status == 65 && report.code == "E-FLEET-CHAIN", "\(report.errors)")
    #expect(report.errors.contains("were recorded"), "\(report.errors)")
  }

  @Test func theStateIsForItsUserOnly() throws {
    let files = FileManager.default
    try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: state)
    #expect(try program.run(["fleet", "resume"]).status == 0)
    for name in ["", "/fleet.sqlite", "/devices.json"] where files.fileExists(atPath: state + name)
    {
      let mode = try files.attributesOfItem(atPath: state + name)[.posixPermissions] as? Int
      #expect(mode.map { $0 & 0o077 } == 0, "\(name)")
    }
  }
}
