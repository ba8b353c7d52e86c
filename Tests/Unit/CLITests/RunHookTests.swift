import Foundation
import Testing

/// Tests of the hooks `run-ended`, `run-paused` and `run-stopped`, which receive the report.
@Suite(.waitsForPrograms) struct RunHookTests {
  private let program: Program

  init() throws { program = try Program() }

  private func campaign(
    _ hooks: String, devices: String = #""sim:fast", "sim:fast?seed=2""#, _ rest: String = ""
  ) throws -> String {
    try program.file(
      "c.yaml",
      """
      campaign: doors
      image: \(Program.root.path)/firmware-samples/blink-1.0.0.bin
      devices: [\(devices)]
      flash: {mode: without-response, allow-downgrade: true}
      retries: {first-delay: 1s, longest-delay: 2s, same: 1}
      hooks: {\(hooks)}
      \(rest)
      """.utf8)
  }

  private func fleet(_ words: String...) throws -> Program.Outcome {
    try program.run(["fleet"] + words)
  }

  /// Returns the output of a hook: point and outcome from its environment, and the report.
  private func received(_ name: String) throws -> (words: String, report: [String: Any]) {
    let text = try String(contentsOfFile: program.home.path + "/" + name, encoding: .utf8)
    let lines = text.split(separator: "\n")
    try #require(lines.count == 2, "\(text)")
    let report = try JSONSerialization.jsonObject(with: Data(lines[1].utf8)) as? [String: Any]
    return (String(lines[0]), try #require(report))
  }

  private static func hook(_ point: String) -> String {
    let line = #"echo "$OTAFLASH_HOOK_POINT $OTAFLASH_HOOK_OUTCOME" > \#(point)"#
    return "\(point): '\(line); cat >> \(point)'"
  }

  private static let all = ["run-ended", "run-paused", "run-stopped"].map(hook)
    .joined(separator: ", ")

  @Test func theEndOfARunHasItsHookAndTheReport() throws {
    let run = try fleet("run", try campaign(Self.all), "--json")
    #expect(run.status == 0, "\(run.errors)")
    try Program.checkEvents(of: run)
    #expect(run.output.contains(#""type":"fleet_hook""#), "\(run.output)")
    let (words, report) = try received("run-ended")
    #expect(words == "run-ended complete" && report["hook"] as? String == "run-ended")
    #expect(report["state"] as? String == "complete")
    let devices = try #require(report["devices"] as? [[String: Any]])
    #expect(devices.map { $0["outcome"] as? String } == ["succeeded", "succeeded"])
    let chain = try #require(report["chain"] as? String)
    #expect(try fleet("report", "--verify", chain).output.contains("has the given hash"))
    for other in ["run-paused", "run-stopped"] {
      #expect(!FileManager.default.fileExists(atPath: program.home.path + "/" + other))
    }
  }

  @Test func aRunThatWaitsForApprovalRunsTheHookOfAPause() throws {
    let waves = "waves: [{devices: 1, approve: true}, {devices: rest}]"
    let run = try fleet("run", try campaign(Self.all, waves), "--no-input")
    #expect(run.status == 4, "\(run.errors)")
    let (words, report) = try received("run-paused")
    #expect(words == "run-paused approval")
    #expect((report["state"] as? String)?.hasPrefix("waiting for approval") == true)
    #expect(!FileManager.default.fileExists(atPath: program.home.path + "/run-ended"))
  }

  @Test func aRunThatStopsAtItsLimitHasAHook() throws {
    let file = try campaign(
      Self.all, devices: #""sim-fleet:3?revert=100%&speed=10""#,
      "waves: [{devices: 1, stop: 1}, {devices: rest}]")
    let run = try fleet("run", file)
    #expect(run.status == 4, "\(run.errors)")
    #expect(try received("run-stopped").words == "run-stopped stopped")
    #expect(!FileManager.default.fileExists(atPath: program.home.path + "/run-ended"))
  }

  /// A failed hook does not affect the run, and a hook may ignore its input.
  @Test func aFailedHookIsReportedAndHasNoOtherEffect() throws {
    let run = try fleet("run", try campaign("run-ended: 'echo no chat; exit 3'"))
    #expect(run.status == 0, "\(run.errors)")
    #expect(run.errors.contains("hook run-ended exited with code 3: no chat"), "\(run.errors)")
  }

  @Test func thePlanListsHooksAndRefusesMissingPrograms() throws {
    let plan = try fleet("plan", try campaign("run-paused: [true, x y]"))
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.output.contains(/hook run-paused +true 'x y'/), "\(plan.output)")
    let missing = try fleet("plan", try campaign("run-stopped: [./none]"))
    #expect(missing.status == 78, "\(missing.output)")
    #expect(missing.errors.contains("the program of run-stopped does not exist"))
  }
}
