import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of simulated devices with Telink's OTA service.
@Suite struct TelinkUpdateTests {
  static let new = FirmwareVersion(1, 3, 0)

  @Test(arguments: [
    "telink", "telink?pdu=80", "telink?pdu=16", "telink?reversed=yes", "telink?mtu=23",
    "telink?mtu=100", "telink-legacy", "telink-legacy?reversed=yes", "telink?schedule=pdus",
    "telink?schedule=size&schedule-every=5", "telink?security=encrypted",
  ])
  func anApplicationIsReplaced(_ device: String) throws {
    let image = try telink(30_000)
    let outcome = try flash(image, onto: "sim:" + device)
    let result = try outcome.result.get()
    #expect(result.outcome == .flashed && result.proof == .version && result.to == Self.new)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
  }

  /// The last PDU has any number of units of 16 bytes.
  @Test(arguments: [32, 64, 240, 256, 464, 480, 496, 4096, 9600])
  func everySizeArrivesCompletely(_ size: Int) throws {
    let image = try telink(size, version: nil)
    for device in ["telink", "telink?pdu=80", "telink-legacy"] {
      let outcome = try flash(
        image, onto: "sim:\(device)\(device.contains("?") ? "&" : "?")loss=1%"
      ) { $0.allowsUnknown = true }
      #expect(outcome.runningImage == image.bytes, "\(device), \(size) bytes")
      #expect(throws: Never.self) { try outcome.result.get() }
    }
  }

  // MARK: The evidence

  /// The device checks the image before it reports success, so the report is evidence.
  @Test func anAcceptedImageWithoutAVersionIsCheckedByTheDevice() throws {
    let outcome = try flash(try telink(30_000, version: nil), onto: "sim:telink?information=no")
    let result = try outcome.result.get()
    #expect(result.outcome == .flashed && result.proof == .bootloader)
  }

  /// An old SDK reports nothing, so the update is never reported as verified.
  @Test func anOldDeviceWithoutAVersionHasOnlyRestarted() throws {
    let image = try telink(30_000, version: nil)
    let outcome = try flash(image, onto: "sim:telink-legacy?information=no")
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && result.proof == .restarted && !result.isVerified)
    #expect(outcome.runningImage == image.bytes)
  }

  /// The version of the running application did not change, so it is no evidence.
  @Test func theSameVersionIsNoEvidenceFromAnOldDevice() throws {
    let same = FirmwareVersion(1, 2, 0)
    let image = try telink(30_000, version: same)
    let old = try flash(image, onto: "sim:telink-legacy") { $0.sendsAnyway = true }.result.get()
    #expect(old.outcome == .restarted)
    let extended = try flash(image, onto: "sim:telink") { $0.sendsAnyway = true }.result.get()
    #expect(extended.outcome == .flashed && extended.proof == .bootloader)
  }

  @Test(arguments: ["telink", "telink-legacy"])
  func aRevertedImageIsDetected(_ device: String) throws {
    let outcome = try flash(try telink(30_000), onto: "sim:\(device)?comes-back-old")
    #expect(throws: UpdateFault.oldVersionStillRuns(running: FirmwareVersion(1, 2, 0))) {
      try outcome.result.get()
    }
  }

  @Test func theRunningVersionIsNotSentAgain() throws {
    let image = try telink(30_000, version: FirmwareVersion(1, 2, 0))
    let result = try flash(image, onto: "sim:telink").result.get()
    #expect(result.outcome == .alreadyCurrent && result.bytesSent == 0)
  }

  @Test func anOlderVersionIsRefused() throws {
    let image = try telink(30_000, version: FirmwareVersion(1, 1, 0))
    let outcome = try flash(image, onto: "sim:telink")
    #expect(
      throws: UpdateFault.downgrade(
        running: FirmwareVersion(1, 2, 0), image: FirmwareVersion(1, 1, 0))
    ) { try outcome.result.get() }
  }

  // MARK: The variants

  @Test(arguments: [
    ("telink", [240]), ("telink?pdu=80", [240, 80]), ("telink?pdu=32", [240, 80, 16]),
    ("telink?mtu=100&pdu=80", [80]), ("telink?mtu=60", [48]), ("telink?mtu=50&pdu=16", [32, 16]),
  ])
  func theLongestSupportedPDUIsFound(_ device: String, _ lengths: [Int]) throws {
    let outcome = try flash(try telink(30_000), onto: "sim:" + device)
    #expect(try outcome.result.get().outcome == .flashed)
    let starts = outcome.log.commands.filter { $0[0] == 3 }
    #expect(starts.map { Int($0[2]) } == lengths)
    #expect(
      outcome.log.restarts
        == lengths.dropLast().map { "it does not accept packets of \($0) bytes" })
  }

  @Test func withoutAConfigurationDescriptorOnlyTheLegacyVariantIsUsed() throws {
    let outcome = try flash(try telink(5000), onto: "sim:telink-legacy")
    #expect(outcome.log.commands.map { $0[0] } == [1, 2])
    #expect(outcome.log.writes.allSatisfy { $0.count <= 20 })
  }

  @Test func theCallerCanChooseTheShortestPackets() throws {
    let outcome = try flash(try telink(5000), onto: "sim:telink") { $0.chunk = 20 }
    #expect(outcome.log.commands.map { $0[0] } == [1, 2])
    #expect(try outcome.result.get().proof == .version)
  }

  @Test func theLadderEndsWithTheLegacyVariant() {
    #expect(
      TelinkVariant.ladder(mtu: 247, notifies: true, wanted: nil)
        == [.extended(240), .extended(80), .extended(16), .legacy])
    #expect(
      TelinkVariant.ladder(mtu: 23, notifies: true, wanted: nil) == [.extended(16), .legacy])
    #expect(TelinkVariant.ladder(mtu: 247, notifies: false, wanted: nil) == [.legacy])
    #expect(
      TelinkVariant.ladder(mtu: 246, notifies: true, wanted: 100)
        == [.extended(96), .extended(80), .extended(16), .legacy])
  }

  // MARK: The product version

  @Test func anAcceptedProductVersionStartsTheTransfer() throws {
    let outcome = try flash(try telink(5000), onto: "sim:telink?product=3") {
      $0.telink.productVersion = 4
    }
    #expect(try outcome.result.get().outcome == .flashed)
    #expect(outcome.log.commands.map { $0[0] } == [4, 3, 2])
    #expect(outcome.log.commands[1][3] == 1)
  }

  @Test func aRefusedProductVersionIsReported() throws {
    let outcome = try flash(try telink(5000), onto: "sim:telink?product=3") {
      $0.telink.productVersion = 3
    }
    guard case .failure(.declined(.prepare, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 8" && outcome.counters.dataBytes < 20)
  }

  // MARK: The battery

  @Test(arguments: [(29, true), (30, false), (100, false)])
  func aWeakBatteryIsReported(_ level: Int, _ isWeak: Bool) throws {
    let outcome = try flash(try telink(5000), onto: "sim:telink?battery=\(level)")
    #expect((outcome.log.device?.caution != nil) == isWeak)
    #expect(try outcome.result.get().outcome == .flashed)
  }

  // MARK: Errors

  @Test func anImageThatIsTooLargeIsRefusedByTheDevice() throws {
    let outcome = try flash(try telink(40_000), onto: "sim:telink?slot=32K")
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 11" && refusal.kind == .doesNotFit)
    #expect(outcome.log.restarts == [])
  }

  @Test func aFlashErrorIsReported() throws {
    let outcome = try flash(try telink(60_000), onto: "sim:telink?bad-block")
    guard case .failure(.declined(.upload, let refusal)) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(refusal.code == "Telink OTA 4" && refusal.kind == .flashFault)
  }

  @Test func otherImagesAreNotTaken() throws {
    let plain = try FirmwareImage.decode(name: "a.bin", bytes: [UInt8](repeating: 7, count: 4000))
    let outcome = try flash(plain, onto: "sim:telink")
    #expect(throws: UpdateFault.imageNotTaken(by: [.telink])) { try outcome.result.get() }
  }
}
