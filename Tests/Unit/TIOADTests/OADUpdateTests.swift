import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of simulated devices with TI's OAD.
@Suite struct OADUpdateTests {
  static let new = FirmwareVersion(1, 3, 0)
  static let old = FirmwareVersion(1, 2, 0)

  @Test(arguments: [
    "ti-oad", "ti-oad?mtu=23", "ti-oad?mtu=65", "ti-oad?mtu=517", "ti-oad?chip=cc13x2",
    "ti-oad?chip=cc2640r2", "ti-oad?security=encrypted", "ti-oad?interval=50ms", "ti-oad?ll=27",
    "ti-oad-mcuboot", "ti-oad-mcuboot?mtu=243", "lego-oad",
  ])
  func anApplicationIsReplaced(_ device: String) throws {
    let image = try oad(30_000, for: device)
    let outcome = try flash(image, onto: "sim:" + device)
    let result = try outcome.result.get()
    #expect(result.outcome == .flashed && result.proof == .version)
    #expect(result.from == Self.old && result.to == Self.new)
    #expect(outcome.runningImage == image.bytes && outcome.log.rewinds == 0)
    #expect(outcome.log.offsets == [0])
  }

  @Test(arguments: [4, 8, 184, 188, 192, 424, 428, 432, 4040, 9600], ["ti-oad", "ti-oad-mcuboot"])
  func everySizeArrivesCompletely(_ size: Int, _ device: String) throws {
    let image = try oad(size, for: device)
    let outcome = try flash(image, onto: "sim:\(device)?loss=1%&slot=16K")
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == image.bytes, "\(size) bytes")
  }

  @Test func theCommandsFollowTheSequence() throws {
    let outcome = try flash(try oad(1000), onto: "sim:ti-oad")
    #expect(outcome.log.commands == [7, 5, 1, 3, 4, 7])
    #expect(outcome.log.blocks == [0, 1, 2, 3, 4])
  }

  // MARK: The evidence

  /// Only a version that did not run before is evidence.
  @Test func anUnchangedVersionIsNoEvidence() throws {
    for device in ["ti-oad", "ti-oad-mcuboot"] {
      let image = try oad(10_000, for: device, version: Self.old)
      let outcome = try flash(image, onto: "sim:" + device) { $0.sendsAnyway = true }
      let result = try outcome.result.get()
      #expect(result.outcome == .restarted && !result.isVerified, "\(device)")
      #expect(outcome.runningImage == image.bytes)
    }
  }

  @Test func aDeviceWithoutAVersionHasOnlyRestarted() throws {
    let image = try oad(10_000)
    let outcome = try flash(image, onto: "sim:ti-oad?reports-version=no")
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && result.proof == .restarted)
    #expect(outcome.runningImage == image.bytes)
  }

  @Test func deviceInformationIsEvidenceToo() throws {
    let image = try oad(10_000)
    let outcome = try flash(image, onto: "sim:ti-oad?reports-version=no&information=yes")
    #expect(try outcome.result.get().proof == .version)
  }

  /// The default version of TI's SDK is evidence if another version ran before.
  @Test func theDefaultVersionOfTheSDKIsEvidenceIfItIsNew() throws {
    let body = [UInt8](repeating: 0x5A, count: 5000)
    let bytes = SampleImage.oad(
      body, identification: Array("CC26x2R1".utf8), type: 7, softwareVersion: Array("0001".utf8))
    let image = try FirmwareImage.decode(name: "a.bin", bytes: bytes)
    let outcome = try flash(image, onto: "sim:ti-oad?version=0.0.9") { $0.allowsDowngrade = true }
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.runningImage == bytes)
  }

  @Test(arguments: ["ti-oad", "ti-oad-mcuboot"], ["comes-back-old", "reverts", "other-image"])
  func anotherRunningImageIsDetected(_ device: String, _ fault: String) throws {
    let outcome = try flash(try oad(10_000, for: device), onto: "sim:\(device)?\(fault)")
    guard case .failure(let error) = outcome.result else {
      Issue.record("\(outcome.result)")
      return
    }
    #expect(error.leavesOldVersion, "\(error)")
  }

  @Test func theRunningVersionIsNotSentAgain() throws {
    for device in ["ti-oad", "ti-oad-mcuboot"] {
      let image = try oad(10_000, for: device, version: Self.old)
      let result = try flash(image, onto: "sim:" + device).result.get()
      #expect(result.outcome == .alreadyCurrent && result.bytesSent == 0)
    }
  }

  @Test func anOlderVersionIsRefused() throws {
    let image = try oad(10_000, version: FirmwareVersion(1, 1, 0))
    let outcome = try flash(image, onto: "sim:ti-oad")
    #expect(
      throws: UpdateFault.downgrade(running: Self.old, image: FirmwareVersion(1, 1, 0))
    ) { try outcome.result.get() }
  }

  // MARK: Refusals

  private static func refusal(_ outcome: OADOutcome) -> (UpdateStage, ProtocolRefusal)? {
    guard case .failure(.declined(let stage, let refusal)) = outcome.result else { return nil }
    return (stage, refusal)
  }

  @Test func anImageForAnotherChipIsRefusedBeforeTheFirstBlock() throws {
    let outcome = try flash(try oad(5000), onto: "sim:ti-oad?chip=cc13x2")
    let (stage, refusal) = try #require(Self.refusal(outcome))
    #expect(stage == .prepare && refusal.code == "TI OAD 10" && refusal.kind == .wrongHardware)
    #expect(outcome.log.blocks.isEmpty)
  }

  @Test func anImageThatIsTooLargeIsRefused() throws {
    let outcome = try flash(try oad(40_000), onto: "sim:ti-oad?slot=32K")
    let (stage, refusal) = try #require(Self.refusal(outcome))
    #expect(stage == .prepare && refusal.code == "TI OAD 8" && refusal.kind == .doesNotFit)
  }

  @Test func anotherTypeOfImageIsRefused() throws {
    for (type, expected) in [(0, UpdateStage.prepare), (40, .activate)] {
      let bytes = SampleImage.oad(
        [UInt8](repeating: 1, count: 5000), identification: Array("CC26x2R1".utf8),
        type: UInt8(type), softwareVersion: [2, 0, 0, 0])
      let outcome = try flash(
        try FirmwareImage.decode(name: "a.bin", bytes: bytes), onto: "sim:ti-oad")
      let (stage, refusal) = try #require(Self.refusal(outcome))
      #expect(stage == expected && refusal.code == "TI OAD 9")
      #expect(outcome.runningImage != bytes)
    }
  }

  @Test func anImageInTheOtherFormatIsRefused() throws {
    for (device, other) in [("ti-oad", "ti-oad-mcuboot"), ("ti-oad-mcuboot", "ti-oad")] {
      let outcome = try flash(try oad(5000, for: other), onto: "sim:" + device)
      let (stage, refusal) = try #require(Self.refusal(outcome))
      #expect(stage == .prepare && refusal.code == "image format", "\(device)")
    }
  }

  @Test func aLinkThatIsTooSmallIsRefused() throws {
    let outcome = try flash(
      try oad(5000, for: "ti-oad-mcuboot"), onto: "sim:ti-oad-mcuboot?mtu=100")
    let (stage, refusal) = try #require(Self.refusal(outcome))
    #expect(stage == .prepare && refusal.code == "block size")
    #expect(refusal.meaning.contains("240 bytes") && refusal.meaning.contains("100"))
  }

  /// A worn page is noticed by the CRC32, or by MCUboot after the restart.
  @Test func aWornPageIsNoticed() throws {
    let outcome = try flash(try oad(60_000), onto: "sim:ti-oad?bad-block")
    let (stage, refusal) = try #require(Self.refusal(outcome))
    #expect(stage == .upload && refusal.code == "TI OAD 1" && refusal.kind == .rejected)
    let image = try oad(60_000, for: "ti-oad-mcuboot")
    let restarted = try flash(image, onto: "sim:ti-oad-mcuboot?bad-block")
    #expect(throws: UpdateFault.oldVersionStillRuns(running: Self.old)) {
      try restarted.result.get()
    }
  }

  @Test func otherImagesAreNotTaken() throws {
    let plain = try FirmwareImage.decode(name: "a.bin", bytes: [UInt8](repeating: 7, count: 4000))
    let outcome = try flash(plain, onto: "sim:ti-oad")
    #expect(throws: UpdateFault.imageNotTaken(by: [.tiOAD])) { try outcome.result.get() }
  }
}
