import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of simulated devices with legacy DFU.
@Suite struct LegacyDFUUpdateTests {
  static let bytes = firmware(20_000)

  @Test(arguments: ["nordic-legacy", "nordic-legacy?entry=button", "infinitime"])
  func anApplicationIsReplaced(_ device: String) throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:" + device)
    let result = try outcome.last.get()
    #expect(result.outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.rewinds == 0)
  }

  /// The next restart would revert the image, and only the user can prevent this.
  @Test func theUserOfTheWatchIsInformed() throws {
    let new = FirmwareVersion(1, 3, 0)
    let image = try legacy(firmware(20_000, new), version: new)
    let watch = try flash([image], onto: "sim:infinitime").last.get()
    #expect(watch.validation == "On the watch, open Settings, then Firmware, and tap Validate.")
    #expect(watch.proof == .version && watch.to == new)
    let board = try flash([image], onto: "sim:nordic-legacy").last.get()
    #expect(board.validation == nil && board.proof == .version)
  }

  @Test func noPacketExceedsTheLimitOfTheWatch() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:infinitime?mtu=247") {
      $0.chunk = 244
    }
    #expect(try outcome.last.get().outcome == .flashed)
    let writes = outcome.log.crossings.filter { $0.direction == .sent && $0.pdu[0] == 0x52 }
    #expect(writes.allSatisfy { $0.pdu.count <= 3 + 20 })
  }

  @Test func theWatchRefusesAnImageThatDoesNotFit() throws {
    let outcome = try flash([legacy(firmware(475_140))], onto: "sim:infinitime?slot=1M")
    #expect(
      throws: UpdateFault.doesNotFit(imageSize: 475_140, slotSize: 475_136)
    ) { try outcome.last.get() }
  }

  @Test func disabledUpdatesAreReported() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:infinitime?disabled=yes")
    guard case .failure(.declined(_, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.kind == .forbidden)
  }

  // MARK: Refusals

  @Test(arguments: ["single", "dual"])
  func aPackageForAnotherDeviceIsRefused(_ banks: String) throws {
    let outcome = try flash(
      [legacy(Self.bytes, deviceType: 7)], onto: "sim:nordic-legacy?banks=\(banks)")
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.code == "legacy DFU 2/6" && refusal.kind == .rejected)
    #expect(refusal.advice.contains("a single bank has erased the application"))
    #expect(outcome.runningImage.isEmpty == (banks == "single"))
  }

  /// After any refusal, the bootloader must not wait for its two minutes.
  @Test(arguments: ["type", "size", "checksum"])
  func afterARefusalTheApplicationRunsAgainImmediately(_ what: String) throws {
    let wrong =
      switch what {
      case "type": try legacy(Self.bytes, deviceType: 7)
      case "size": try legacy(firmware(70_000))
      default: try legacy(Self.bytes, checksum: 0xBAD)
      }
    let outcome = try flash(
      [wrong, legacy(Self.bytes)], onto: "sim:nordic-legacy?slot=64K&banks=dual&erase=0")
    #expect(throws: UpdateFault.self) { try outcome.results[0].get() }
    #expect(try outcome.last.get().from == FirmwareVersion(1, 2, 0), "its application was running")
    #expect(outcome.elapsed < .seconds(60))
  }

  /// A device with a single bank has no application to run, but the next transfer starts
  /// immediately.
  @Test func afterARefusalABootloaderWithOneBankAcceptsTheNextPackage() throws {
    let outcome = try flash(
      [legacy(Self.bytes, checksum: 0xBAD), legacy(Self.bytes)],
      onto: "sim:nordic-legacy?erase=0")
    guard case .failure(.declined(.verify, let refusal)) = outcome.results[0] else {
      Issue.record("\(outcome.results[0])")
      return
    }
    #expect(refusal.code == "legacy DFU 4/5")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.restarts == [])
  }

  @Test func aWrongChecksumIsNotStarted() throws {
    let outcome = try flash(
      [legacy(Self.bytes, checksum: 0xBAD)], onto: "sim:nordic-legacy?banks=dual")
    guard case .failure(.declined(.verify, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.kind == .rejected)
    #expect(outcome.runningImage != Self.bytes)
  }

  /// The host did not observe this version before, so it must not report that the version "still"
  /// runs.
  @Test func anUnobservedVersionIsNotReportedAsTheOldVersion() throws {
    let image = try legacy(
      firmware(20_000, FirmwareVersion(1, 3, 0)), version: FirmwareVersion(0, 1, 0))
    let outcome = try flash([image], onto: "sim:nordic-legacy?entry=button")
    #expect(
      throws: UpdateFault.otherVersionRuns(
        running: FirmwareVersion(1, 3, 0), expected: FirmwareVersion(0, 1, 0))
    ) { try outcome.last.get() }
  }

  /// The report must state that the old version still runs.
  @Test func aRevertedVersionIsReportedAsTheOldVersion() throws {
    let image = try legacy(
      firmware(20_000, FirmwareVersion(1, 3, 0)), version: FirmwareVersion(1, 3, 0))
    let outcome = try flash([image], onto: "sim:nordic-legacy?banks=dual&comes-back-old")
    #expect(throws: UpdateFault.oldVersionStillRuns(running: FirmwareVersion(1, 2, 0))) {
      try outcome.last.get()
    }
  }

  // MARK: Losses

  /// Writing a packet takes 1.5 or 10 ms. A packet arrives every 0.7 ms, and the device has 8
  /// buffers.
  @Test(arguments: ["300ms", "2s"])
  func theHostWaitsForAFlashThatIsSlowerThanTheAir(_ write: String) throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy?write=\(write)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect((1...5).contains(outcome.log.rewinds), "\(outcome.log.rewinds)")
  }

  /// The bootloader keeps its state and answers "invalid state" until a reset.
  @Test(arguments: ["cut-at-pdu=60", "cut-at-pdu=400", "cut-after=2s"], ["single", "dual"])
  func aLostLinkRestartsTheTransfer(_ fault: String, _ banks: String) throws {
    let outcome = try flash(
      [legacy(Self.bytes)], onto: "sim:nordic-legacy?banks=\(banks)&\(fault)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
  }

  /// The host's own reset is not a lost link: only the host ended the connection.
  @Test func aResetByTheHostIsReportedAsAReset() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy?cut-at-pdu=400")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.restarts == ["it was still in the middle of an earlier transfer"])
    #expect(outcome.log.losses == 1)
  }

  /// The device keeps nothing, so no resume offset is reported.
  @Test func aCancelledTransferCannotBeResumed() throws {
    let outcome = try flash(
      [legacy(firmware(200_000))], onto: "sim:nordic-legacy", cancelAfter: .seconds(6))
    guard case .failure(.cancelled(resumable: false, let acknowledged)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(acknowledged > 10_000)
  }

  @Test func aTransferOverALostLinkCannotBeResumed() throws {
    let outcome = try flash(
      [legacy(firmware(60_000))], onto: "sim:nordic-legacy?write=0&cut-at-pdu=1200"
    ) { $0.reconnection = .none }
    guard case .failure(.linkLost(_, .upload, resumable: false, let acknowledged)) = outcome.last
    else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(acknowledged > 10_000)
  }

  /// A bootloader that has received no part of the init packet answers "invalid state".
  @Test func aLostInitPacketIsSentAgain() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy") { _ in
    } losing: { number, _ in
      number == 2
    }
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.restarts == [] && outcome.log.rewinds == 0)
  }

  @Test func anInitPacketThatNeverArrivesIsReported() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy") { _ in
    } losing: { number, bytes in
      number > 1 && bytes.count < 20
    }
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.meaning == "the init packet did not reach it")
  }

  /// Receipts cannot reveal the loss. The query after every 16 KiB reveals it, long before the end.
  @Test func aLostPacketIsDetectedBeforeTheRestIsSent() throws {
    let outcome = try flash([legacy(firmware(100_000))], onto: "sim:nordic-legacy") { _ in
    } losing: { number, _ in
      number == 100
    }
    let result = try outcome.last.get()
    #expect(outcome.log.rewinds == 1)
    #expect(result.bytesSent < 100_000 + 25_000, "\(result.bytesSent)")
  }

  // MARK: The settings page

  /// The erase takes 85 ms, in which packets only fill the buffers.
  @Test(
    arguments: ["", "&pool=16x600", "&variant=adafruit"], ["response=same", "response=next"])
  func noPacketIsSentDuringTheEraseOfTheSettings(_ device: String, _ response: String) throws {
    let outcome = try flash(
      [legacy(Self.bytes)],
      onto: "sim:nordic-legacy?interval=7.5ms&erase=85ms&\(response)\(device)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.rewinds == 0)
  }

  /// The erase takes 200 ms, which is longer than the first wait. The adaptation must not reduce
  /// the pace.
  @Test func theHostAdaptsToALongerErase() throws {
    let profile = "sim:nordic-legacy?interval=7.5ms&erase=200ms"
    let outcome = try flash([legacy(firmware(60_000))], onto: profile)
    let result = try outcome.last.get()
    #expect(outcome.log.rewinds == 1)
    #expect(outcome.log.restarts == ["it had dropped packets"])
    #expect(Double(result.bytesSent) / (result.uploadTook / .seconds(1)) > 8000)
  }

  /// The Device Information of a bootloader does not describe the application.
  @Test func theVersionOfABootloaderIsNotUsedAsTheApplicationsVersion() throws {
    let image = try legacy(
      firmware(20_000, FirmwareVersion(0, 9, 2)), version: FirmwareVersion(0, 9, 2))
    let outcome = try flash([image], onto: "sim:nordic-legacy?variant=adafruit&entry=button") {
      $0.sendsAnyway = false
    }
    let result = try outcome.last.get()
    #expect(result.from == nil && result.outcome == .flashed)
  }
}
