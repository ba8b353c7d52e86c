import Foundation
import Testing

/// `otaflash fleet plan` as a shell runs it.
@Suite(.waitsForPrograms) struct FleetPlanTests {
  private static let fixtures = "\(Program.root.path)/Tests/FirmwareTests/Fixtures/MCUboot"

  private let program: Program

  init() throws { program = try Program() }

  private func plan(_ text: String, _ words: String...) throws -> Program.Outcome {
    let file = try program.file("c.yaml", text.utf8)
    return try program.run(["fleet", "plan", file] + words)
  }

  @Test(arguments: [
    ("ed25519.bin", "ed25519", 0, ""), ("unsigned.bin", "ed25519", 65, "E-SIGNATURE"),
    ("ed25519.bin", "rsa-2048", 77, "E-OTHER-SIGNER"), ("ed25519.bin", "none", 66, "E-FILE"),
  ])
  func imagesMustBeSignedByTheKeyOfTheCampaign(
    image: String, key: String, status: Int32, code: String
  ) throws {
    let plan = try plan(
      """
      campaign: c
      image: \(Self.fixtures)/\(image)
      key: \(Self.fixtures)/\(key).pub.pem
      devices: ["sim:smp"]
      """)
    #expect(plan.status == status, "\(plan.errors)")
    #expect(status == 0 || plan.code == code, "\(plan.errors)")
  }

  @Test func aDeviceThatWouldBeSkippedIsShown() throws {
    let text = """
      campaign: c
      image: \(Program.root.path)/firmware-samples/app-1.3.0.bin
      devices: ["sim:?battery=20", "sim:?battery=90&seed=2", "sim:?version=1.0.0&seed=3"]
      requires: 1.2.0
      min-battery: 30%
      """
    let plan = try plan(text, "--live", "--json")
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(plan.output.contains("its battery level is 20 %"), "\(plan.output)")
    #expect(plan.output.contains("it runs 1.0.0, and the campaign requires 1.2.0"))
    #expect(plan.output.components(separatedBy: #""prospect":"skipped""#).count == 3)
    let check = try Program.runTool(
      ["python3", "Tests/check-events.py", "docs/events.schema.json", "0"], input: plan.output)
    #expect(check.status == 0, "\(check.errors)")
  }
}
