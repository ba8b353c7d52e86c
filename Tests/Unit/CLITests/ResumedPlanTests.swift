import Foundation
import Testing

/// Tests of `fleet run --plan` for an open run: the run has the devices of the plan, with the same
/// keys.
@Suite(.waitsForPrograms) struct ResumedPlanTests {
  private let program: Program

  init() throws { program = try Program() }

  private func campaign(_ name: String, _ rest: String) throws -> String {
    try program.file(
      name + ".yaml",
      """
      campaign: \(name)
      image: \(Program.root.path)/firmware-samples/blink-1.0.0.bin
      flash: {mode: without-response, allow-downgrade: true, force: true}
      \(rest)
      """.utf8)
  }

  /// One device was found by the scan and has the key of the scan. The other device is known and
  /// has no key.
  @Test func aKnownDeviceDoesNotReceiveTheKeyOfTheScan() throws {
    _ = try program.file("k.bin", [UInt8](repeating: 7, count: 32))
    let known = try campaign("known", #"devices: ["sim:plain?seed=4"]"#)
    #expect(try program.run(["fleet", "run", known]).status == 0)
    let file = try campaign(
      "doors",
      """
      devices-scan: {name: door-01, key-file: k.bin, for: 1s}
      devices-from: known
      select: version<9.0.0 or rssi>=-127
      waves: [{name: canary, devices: 1, approve: true}, {name: all, devices: rest}]
      """)
    let plan = program.home.path + "/p.json"
    let air = ["--adapter", "sim:4"]
    let saved = try program.run(["fleet", "plan", file, "--save", plan] + air)
    #expect(saved.status == 0, "\(saved.errors)")
    #expect(saved.errors.contains("--adapter sim:4 --plan"), "\(saved.errors)")
    let text = try String(contentsOfFile: plan, encoding: .utf8)
    #expect(text.contains("sim:plain?seed=1") && text.contains("sim:plain?seed=4"), "\(text)")
    for _ in 0..<2 {
      let run = try program.run(["fleet", "run", file, "--plan", plan, "--no-input"] + air)
      #expect(run.code == "E-FLEET-PAUSED", "\(run.errors)")
    }
  }
}
