import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import OtaflashUpdate
import Testing

/// Tests of every fault of the catalog with one update each. The update must end within its limits,
/// with a correct result.
@Suite struct FaultTests {
  static let size = 60_000

  private func run(
    _ profile: String, _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> BenchResult {
    try flash(UpdateTests.image(size: Self.size), onto: profile, adjust)
  }

  /// Success may be reported only if the new image runs. After a failure, the new or the old image
  /// must run.
  private func expectTruth(_ result: BenchResult) {
    let new = UpdateTests.image(size: Self.size)
    let runsNew = result.runningImage == new.bytes
    switch result.outcome {
    case .success(let update):
      #expect(update.isVerified && runsNew)
    case .failure:
      break
    }
    #expect(runsNew || result.running.version == FirmwareVersion(1, 2, 0))
    #expect(result.flashFaults.isEmpty)
  }

  @Test(
    arguments: [
      "cut-at-pdu", "cut-after", "reset-at-flash-op", "torn", "notification-loss",
      "wrong-crc-once", "jump-back", "mtu-lie", "foreign-state", "late-pdu", "slow-observer",
      "erase-400ms",
    ], WriteMode.allCases)
  func aTemporaryFaultEndsWithTheNewImage(_ fault: String, _ mode: WriteMode) throws {
    let result = try run(fault) { $0.mode = mode }
    expectTruth(result)
    let update = try result.outcome.get()
    #expect(update.outcome == .flashed)
  }

  /// The erase for the content of the receive buffer takes longer than any other answer may take.
  @Test(arguments: WriteMode.allCases)
  func theHostWaitsForAnEraseOfTwentySeconds(_ mode: WriteMode) throws {
    let result = try run("erase-20s?ring=24K") { $0.mode = mode }
    expectTruth(result)
    #expect(try result.outcome.get().isVerified)
  }

  /// Random bytes between the device's own PDUs may end an update, but must never cause a wrong
  /// result.
  @Test(arguments: ["0.5%", "5%"], WriteMode.allCases)
  func randomPDUsNeverCauseAWrongResult(_ share: String, _ mode: WriteMode) throws {
    expectTruth(try run("plain?nonsense-pdus=\(share)") { $0.mode = mode })
  }

  /// A device that changes its window or its durable offset, but accepts no data, makes no
  /// progress.
  @Test(
    arguments: ["busy-forever", "window-flaps", "durable-wanders", "refuses-data"],
    WriteMode.allCases)
  func theUpdateEndsInTimeIfTheDeviceAcceptsNoData(_ fault: String, _ mode: WriteMode) throws {
    let result = try run(fault) { $0.mode = mode }
    expectTruth(result)
    #expect(result.elapsed < .seconds(45))
    switch result.outcome {
    case .failure(.stalled(_, let waited, _)):
      #expect(waited >= .seconds(25) && waited < .seconds(26))
    // Refused data is sent again; the number of repetitions is limited.
    case .failure(.noProgress) where fault == "refuses-data": break
    default: Issue.record("\(result.outcome)")
    }
  }

  @Test(
    arguments: [
      "busy-forever", "bad-block", "wrong-crc-always", "repeat-offset", "beyond-end",
      "other-image", "never-returns", "comes-back-old", "reverts", "adapter-vanishes", "nonsense",
      "silent", "wrong-verify-crc", "new-address", "other-board",
    ], WriteMode.allCases)
  func aPermanentFaultIsReportedCorrectly(_ fault: String, _ mode: WriteMode) throws {
    let result = try run(fault) { $0.mode = mode }
    expectTruth(result)
    #expect(throws: UpdateFault.self) { try result.outcome.get() as UpdateResult }
    #expect(result.elapsed < .seconds(120))
  }
}
