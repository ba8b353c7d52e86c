import Foundation
import Testing

/// Tests of operator commands with a name and a reason, and of the waits of a run.
@Suite(.waitsForPrograms) struct OperatorProgramTests {
  private let program: Program

  init() throws { program = try Program() }

  private func campaign(_ rest: String) throws -> String {
    try program.file(
      "c.yaml",
      """
      campaign: doors
      image: \(Program.root.path)/firmware-samples/blink-1.0.0.bin
      devices: ["sim-fleet:3?speed=10"]
      flash: {mode: without-response, allow-downgrade: true}
      \(rest)
      """.utf8)
  }

  private func fleet(_ words: String...) throws -> Program.Outcome {
    try program.run(["fleet"] + words)
  }

  private func events(_ output: String, _ type: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }.filter { $0["type"] as? String == type }
  }

  private func check(_ outcome: Program.Outcome) throws {
    try Program.checkEvents(of: outcome)
  }

  /// Polls the status of a run.
  private func poll(statusWith words: String) throws {
    for _ in 0..<2000 where try fleet("status").output.contains(words) {
      return
    }
    Issue.record("no status with '\(words)'")
  }

  private static let canary = "waves: [{name: canary, devices: 1, approve: true}, {devices: rest}]"
  /// This window is never open while a test runs.
  private static let closed = """
    window: {from: "00:00", to: "00:01", zone: "+05:30", not-before: 2099-12-31T18:30:00Z}
    """

  @Test func anApprovalHasANameAndAReasonInEveryReport() throws {
    let file = try campaign(Self.canary)
    #expect(try fleet("run", file, "--no-input", "--as", "Anna Berg").status == 4)
    let status = try fleet("status", "--json")
    try check(status)
    let waits = try #require(
      try events(status.output, "fleet_status").first?["waits"] as? [[String: Any]])
    #expect(waits.map { $0["reason"] as? String } == ["approval"])
    let approved = try fleet("resume", "--as", "bo@lab", "--reason", "the canary looks good")
    #expect(approved.status == 0, "\(approved.errors)")
    let run = try fleet("run", file, "--json")
    #expect(run.status == 0, "\(run.errors)")
    let report = try fleet("report", "--json", "--html", program.home.path + "/r.html")
    try check(report)
    let event = try #require(try events(report.output, "fleet_report").first)
    #expect(event["started_by"] as? String == "Anna Berg")
    #expect(event["weakest_verification"] as? String == "read-back")
    let operators = try #require(event["operators"] as? [[String: Any]])
    #expect(operators.map { $0["action"] as? String } == ["approve"])
    #expect(operators.map { $0["by"] as? String } == ["bo@lab"])
    #expect(operators.map { $0["reason"] as? String } == ["the canary looks good"])
    let page = try String(contentsOfFile: program.home.path + "/r.html", encoding: .utf8)
    #expect(page.contains("by bo@lab (the canary looks good)"))
    // The output of `sha256sum` for the image and the campaign.
    for name in ["\(Program.root.path)/firmware-samples/blink-1.0.0.bin", file] {
      let sum = try Program.runTool(["sha256sum", name]).output.prefix(64)
      #expect(page.contains(sum) && report.output.contains(sum), "\(name)")
    }
    #expect(page.contains("allow-downgrade"))
  }

  /// The process that works on the run records the operator. Without a name, it records the
  /// account.
  @Test func aRunShowsItsWaitsAndItsOperator() throws {
    let run = try program.start(["fleet", "run", try campaign(Self.closed), "--progress", "plain"])
    try #require(
      run.waitUntilItSays("waiting: the window opens 1 Jan 2100, 00:00 +05:30", "3 devices wait"))
    #expect(
      try fleet("status").output.contains(
        /waiting: the window opens 1 Jan 2100, 00:00 \+05:30, in [0-9]+ d .*\(3 devices wait\)/))
    let paused = try fleet("pause", "--reason", "lunch")
    #expect(paused.status == 0, "\(paused.errors)")
    try #require(run.waitUntilItSays("pause by ", "@", ": lunch"))
    let status = try fleet("status").output
    #expect(status.contains("waiting: an operator must resume the run"), "\(status)")
    #expect(
      status.contains(/last command: pause by .*@.*: lunch, (just now|\d+ s ago)/), "\(status)")
    #expect(try fleet("cancel", "--yes", "--as", "bo").status == 0)
    #expect(run.end().status == 4)
    let report = try fleet("report", "--json")
    try check(report)
    #expect(report.output.contains(#""action":"cancel","by":"bo""#), "\(report.output)")
  }

  @Test func aWaitIsAnEventForPrograms() throws {
    let run = try program.start(
      ["fleet", "run", try campaign(Self.canary + "\n" + Self.closed), "--json"])
    try poll(statusWith: "waiting: ")
    // The second poll has reported the wait before the request of another process is answered.
    #expect(try fleet("pause").status == 0)
    #expect(try fleet("resume").status == 0)
    try poll(statusWith: "in progress")
    #expect(try fleet("cancel", "--yes").status == 0)
    let outcome = run.end()
    #expect(outcome.status == 4, "\(outcome.errors)")
    try check(outcome)
    let actions = try events(outcome.output, "fleet_operator").map { $0["action"] as? String }
    #expect(actions == ["pause", "resume", "cancel"])
  }

  @Test(arguments: [
    (["--as", ""], "the text is empty"), (["--as", "a\u{1B}[2J"], "write one line"),
    (["--reason", String(repeating: "x", count: 501)], "the maximum is 500"),
  ])
  func aNameOrReasonThatCannotBeRecordedIsRefused(_ words: [String], _ part: String) throws {
    let refused = try program.run(["fleet", "pause"] + words)
    #expect(refused.status == 64, "\(refused.errors)")
    #expect(refused.errors.contains(part), "\(refused.errors)")
  }

  /// `--again` abandons the open run and records the operator's name.
  @Test func abandoningARunIsRecorded() throws {
    let file = try campaign(Self.canary)
    #expect(try fleet("run", file, "--no-input").status == 4)
    let id = try #require(try fleet("list").output.split(separator: "\n").last?.prefix(6))
    #expect(try fleet("run", file, "--again", "--no-input", "--as", "bo").status == 4)
    let report = try fleet("report", String(id), "--json")
    #expect(report.output.contains(#""action":"cancel","by":"bo","reason":"#), "\(report.output)")
  }
}
