import OtaflashFirmware
import Testing

@testable import OtaflashUpdate

/// Tests of the table of bootloaders that lose packets or fail.
@Suite struct KnownBootloaderTests {
  @Test(arguments: [
    ("0.9.2 s140 6.1.1", 0), ("0.6.2 s132 6.1.1", 0), ("S132 2.0.1, 0.5.0", 0),
    ("0.10.0 s140 6.1.1", nil), ("0.11.0 s140 6.1.1", 1), ("0.11.1 s140 7.3.0", nil),
    ("0.9.2-OTAFIX2.1-BP1.2 s140 6.1.1", nil), ("0.10.0-13-g48a149f s140 6.1.1", nil),
    ("0.9.2", nil), ("1.2.0 s140", nil), ("", nil), ("s140 s140 s140", nil),
    ("0.9.2 s113 7.0.1", nil), ("300.9.2 s140 6.1.1", nil),
  ])
  func aBootloaderIsIdentifiedByItsFirmwareRevision(_ revision: String, _ row: Int?) {
    #expect(KnownBootloader.named(in: revision) == row.map { KnownBootloader.all[$0] })
  }

  @Test func theTableIsConsistent() {
    for (index, row) in KnownBootloader.all.enumerated() {
      #expect(!row.versions.isEmpty && !row.source.isEmpty)
      #expect(row.warning.hasSuffix(".") && !row.fault.hasSuffix("."))
      if case .paceStep(let step) = row.consequence {
        #expect(LegacyDFUPace.ladder.indices.contains(step))
      }
      for other in KnownBootloader.all[(index + 1)...] {
        #expect(!row.versions.overlaps(other.versions))
      }
    }
  }

  /// The bootloader has 8 buffers, and writing a packet takes longer than receiving it.
  @Test func aBootloaderWithFewBuffersLosesNoPacket() throws {
    let bytes = firmware(20_000)
    let outcome = try flash(
      [legacy(bytes)], onto: "sim:nordic-legacy?variant=adafruit&bootloader=0.9.2&write=300ms")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == bytes && outcome.log.restarts == [])
    #expect(outcome.log.device?.caution?.contains("only 8 packet buffers") == true)
    #expect(outcome.hasSent([0x08, 4, 0]))
  }

  /// No update data is sent to a bootloader that would lose its application.
  @Test func aBootloaderThatFailsIsNotStarted() throws {
    let outcome = try flash(
      [legacy(firmware(20_000))], onto: "sim:nordic-legacy?variant=adafruit&bootloader=0.11.0"
    ) { $0.sendsAnyway = false }
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.kind == .unsuitable && refusal.advice.contains("nothing was sent"))
    #expect(!outcome.runningImage.isEmpty)
    // The write of the opcode that starts the bootloader is sent to the application.
    #expect(
      outcome.log.crossings.count {
        $0.direction == .sent && Array($0.pdu.dropFirst(3)) == [0x01, 0x04]
      } == 1)
  }

  /// If the user forces the update, the update ends with an error, and no application runs.
  @Test func aForcedUpdateOfABootloaderThatFailsEndsWithAnError() throws {
    let outcome = try flash(
      [legacy(firmware(20_000))], onto: "sim:nordic-legacy?variant=adafruit&bootloader=0.11.0")
    #expect(throws: UpdateFault.self) { try outcome.last.get() }
    #expect(outcome.runningImage.isEmpty)
    #expect(outcome.elapsed < .seconds(600))
  }
}

extension NordicOutcome {
  /// Whether the host has written this value.
  fileprivate func hasSent(_ value: [UInt8]) -> Bool {
    log.crossings.contains { $0.direction == .sent && Array($0.pdu.dropFirst(3)) == value }
  }
}
