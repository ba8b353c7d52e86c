import Foundation
import OtaflashFirmware
import OtaflashSimulation
import Testing

@testable import OtaflashBench
@testable import OtaflashProgram
@testable import otaflash

/// Tests of `otaflash self-test`, which must pass, leave no files, and find faults.
@Suite(.waitsForPrograms) struct SelfTestTests {
  @Test func aCorrectInstallationPasses() throws {
    let program = try Program()
    let temporary = program.home.appending(path: "tmp")
    try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
    let outcome = try program.run(["self-test"], environment: ["TMPDIR": temporary.path])
    #expect(outcome.status == 0, "\(outcome.errors)\(outcome.output)")
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == SelfTest.checks(environment: [:]).count)
    #expect(lines.allSatisfy { $0.hasPrefix("pass  ") }, "\(outcome.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    #expect(try FileManager.default.contentsOfDirectory(atPath: program.home.path) == ["tmp"])
  }

  @Test func checksAreEvents() throws {
    let program = try Program()
    let outcome = try program.run(["self-test", "--json"])
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
    try Program.checkEvents(of: outcome)
  }

  /// Without a writable directory two checks fail, and the exit status reports this.
  @Test func failuresAreReported() throws {
    let program = try Program()
    let outcome = try program.run(["self-test"], environment: ["TMPDIR": "/proc/none"])
    #expect(outcome.status == 70 && outcome.code == "E-SELF-TEST", "\(outcome.errors)")
    #expect(outcome.errors.contains("2 of 19 checks failed: socket, state"), "\(outcome.errors)")
    #expect(outcome.output.contains("fail  state"), "\(outcome.output)")
  }

  /// Each unexpected outcome of an update must count as a failure.
  @Test(arguments: [
    // The link is never lost, so nothing is resumed.
    UpdateTrial(profile: "sim:", wanted: .proof(.readBack, resumes: true)),
    UpdateTrial(profile: "sim:?reverts", wanted: .proof(.readBack, resumes: true)),
    UpdateTrial(profile: "sim:?cut-at-pdu=120", wanted: .proof(.version, resumes: true)),
    UpdateTrial(profile: "sim:", wanted: .patch),
    UpdateTrial(profile: "sim:", wanted: .fault(writes: true) { _ in true }),
    // The update fails as required, but bytes were written before.
    UpdateTrial(profile: "sim:?reverts", wanted: .fault(writes: false) { _ in true }),
    UpdateTrial(
      profile: "sim:", image: { try SelfTestImage.of($0, hardware: HardwareID(0xB002)) },
      wanted: .fault(writes: false) { $0 == .wrongKey }),
    UpdateTrial(profile: "sim:no-such-board", wanted: .patch),
  ])
  func anUnexpectedOutcomeFails(_ trial: UpdateTrial) {
    #expect(throws: SelfTestCheck.Failure.self) { try trial.perform() }
  }
}
