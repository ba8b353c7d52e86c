import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Testing

@testable import OtaflashUpdate

/// Whole updates of simulated devices with legacy DFU.
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

  /// It would be taken back at the next restart, and only its user can prevent that.
  @Test func theWatchsUserIsTold() throws {
    let new = FirmwareVersion(1, 3, 0)
    let image = try legacy(firmware(20_000, new), version: new)
    let watch = try flash([image], onto: "sim:infinitime").last.get()
    #expect(watch.validation == "On the watch, open Settings, then Firmware, and tap Validate.")
    #expect(watch.proof == .version && watch.to == new)
    let board = try flash([image], onto: "sim:nordic-legacy").last.get()
    #expect(board.validation == nil && board.proof == .version)
  }

  @Test func noPacketIsLongerThanTheWatchTakes() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:infinitime?mtu=247") {
      $0.chunk = 244
    }
    #expect(try outcome.last.get().outcome == .flashed)
    let writes = outcome.log.crossings.filter { $0.direction == .sent && $0.pdu[0] == 0x52 }
    #expect(writes.allSatisfy { $0.pdu.count <= 3 + 20 })
  }

  @Test func theWatchSaysWhatItHasNoRoomFor() throws {
    let outcome = try flash([legacy(firmware(475_140))], onto: "sim:infinitime?slot=1M")
    #expect(
      throws: UpdateFault.doesNotFit(imageSize: 475_140, slotSize: 475_136)
    ) { try outcome.last.get() }
  }

  @Test func updatesThatAreSwitchedOffAreToldSo() throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:infinitime?disabled=yes")
    guard case .failure(.declined(_, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.kind == .forbidden)
  }

  @Test func aPackageForAnotherDeviceIsRefused() throws {
    let outcome = try flash([legacy(Self.bytes, deviceType: 7)], onto: "sim:nordic-legacy")
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.code == "legacy DFU 5" && refusal.kind == .rejected)
    #expect(outcome.runningImage != Self.bytes)
  }

  @Test func afterARefusalTheApplicationRunsAgainAtOnce() throws {
    let outcome = try flash(
      [legacy(Self.bytes, deviceType: 7), legacy(Self.bytes)], onto: "sim:nordic-legacy")
    #expect(throws: UpdateFault.self) { try outcome.results[0].get() }
    #expect(try outcome.last.get().from == FirmwareVersion(1, 2, 0), "its application was met")
  }

  @Test func aWrongChecksumIsNotStarted() throws {
    let outcome = try flash([legacy(Self.bytes, checksum: 0xBAD)], onto: "sim:nordic-legacy")
    guard case .failure(.declined(.verify, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.kind == .rejected)
    #expect(outcome.runningImage != Self.bytes)
  }

  /// 1.5 and 10 ms a packet, where the air brings one every 0.7 ms and there are 8 buffers.
  @Test(arguments: ["300ms", "2s"])
  func flashThatIsSlowerThanTheAirIsWaitedFor(_ write: String) throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy?write=\(write)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect((1...3).contains(outcome.log.rewinds), "\(outcome.log.rewinds)")
  }

  @Test(arguments: ["cut-at-pdu=60", "cut-at-pdu=400", "cut-after=2s"])
  func aLostLinkMeansToStartOver(_ fault: String) throws {
    let outcome = try flash([legacy(Self.bytes)], onto: "sim:nordic-legacy?\(fault)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
  }
}
