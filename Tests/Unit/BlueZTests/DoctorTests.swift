import Glibc
import OtaflashATT
import Testing

@testable import OtaflashBlueZ

@Suite(.timeLimit(.minutes(20))) struct DoctorTests {
  private func facts(_ kernel: FakeKernel) -> DoctorFacts {
    let session = kernel.session
    return DoctorFacts(
      socketError: { 0 }, openSession: { () throws(MgmtFault) in session }, switches: { [] },
      capabilities: { Capabilities(status: "CapEff:\t0000000000003000\n") },
      isDaemonRunning: { false })
  }

  private func examine(
    _ doctor: Doctor, _ kernel: FakeKernel, current: [UInt8]
  ) async throws -> [DoctorCheck] {
    async let checks = doctor.examine()
    _ = try await kernel.receive()
    try await kernel.complete(0x0003, [1, 0, 0, 0])
    _ = try await kernel.receive()
    try await kernel.complete(
      0x0004, [1, 2, 3, 4, 5, 6, 9, 2, 0, 0xFF, 2, 0, 0] + current)
    return await checks
  }

  @Test func aCorrectSetupPasses() async throws {
    let kernel = try FakeKernel()
    let checks = try await examine(
      Doctor(facts: facts(kernel)), kernel, current: [0x01, 0x02, 0, 0])
    #expect(checks.map(\.verdict) == Array(repeating: .pass, count: 6))
    #expect(
      checks.map(\.check) == [
        "kernel support", "adapter hci0", "adapter hci0 LE", "rfkill", "capabilities", "bluetoothd",
      ])
  }

  @Test func everyFailureHasARemedy() async throws {
    let kernel = try FakeKernel()
    var facts = facts(kernel)
    facts.switches = { [RFKillSwitch(decoding: [0, 0, 0, 0, 2, 0, 1, 0])].compactMap(\.self) }
    facts.capabilities = { Capabilities(status: "Name:\tx\nCapEff:\t0000000000001000\n") }
    let checks = try await examine(Doctor(facts: facts), kernel, current: [0, 0, 0, 0])
    #expect(checks.map(\.verdict) == [.pass, .fail, .fail, .fail, .warn, .pass])
    #expect(checks.filter { $0.verdict != .pass }.allSatisfy { $0.remedy != nil })
    #expect(checks[4].finding.hasPrefix("CAP_NET_RAW missing"))
  }

  /// A path below a file cannot exist.
  private static let missingPath = #filePath + "/missing"

  @Test func factsAreRead() {
    #expect(Capabilities(status: "Name:\tx\n") == nil)
    #expect(Capabilities(status: "CapEff:\tzz\n") == nil)
    #expect(RFKillSwitch(decoding: [1, 0, 0, 0, 2, 2, 0, 1])?.isHardBlocked == true)
    #expect(RFKillSwitch(decoding: [1, 0, 0, 0, 1, 0, 1, 1]) == nil)
    #expect(RFKillSwitch(decoding: [1, 0, 0, 0, 2, 1, 1, 1]) == nil)
    #expect(RFKillSwitch(decoding: [1, 0, 0, 0, 2]) == nil)
    #expect(RFKillSwitch.all(device: Self.missingPath) == nil)
    #expect(ProcessFile.isRunning("no-such-process-name") == false)
  }
}
