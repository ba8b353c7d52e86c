import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of simulated devices with SUOTA.
@Suite struct SUOTAUpdateTests {
  static let new = FirmwareVersion(1, 3, 0)

  @Test(arguments: [
    "suota", "suota?chip=da1468x", "suota?data=20", "suota?data=509&mtu=512", "suota?mtu=23",
    "suota?sizes=no", "suota?replaced=yes", "suota?security=encrypted", "suota?asserts=yes",
    "suota-da1453x", "suota-da1453x?block=240", "suota-da1453x?block=128",
    "suota-da1453x?block=64", "suota-da1453x?data=20", "suota-da1453x?mtu=100",
    "suota-da1453x?erasing=demand", "suota-da1453x?replaced=yes", "suota-da1453x?sizes=no",
  ])
  func anApplicationIsReplaced(_ device: String) throws {
    let device = "sim:" + device
    let image = try image(30_000, for: device)
    let outcome = try flash(image, onto: device)
    let result = try outcome.result.get()
    #expect(result.outcome == .flashed && result.proof == .version && result.to == Self.new)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.offsets == [0])
  }

  /// The last block has any length, also one that consists only of the XOR byte.
  @Test(arguments: [1, 63, 448, 447, 449, 512, 960, 975, 976, 977, 4096])
  func everySizeArrivesCompletely(_ size: Int) throws {
    for device in ["sim:suota?chip=da1468x", "sim:suota", "sim:suota-da1453x"] {
      let image = try image(size, for: device)
      let outcome = try flash(image, onto: device)
      #expect(throws: Never.self) { try outcome.result.get() }
      #expect(outcome.runningImage == image.bytes, "\(device), \(size) bytes")
    }
  }

  // MARK: The sequence

  @Test func aBlockReceiverGetsPinsAndTheLengthsOfBlocks() throws {
    let device = "sim:suota-da1453x"
    let image = try image(1000, for: device)
    let outcome = try flash(image, onto: device)
    #expect(outcome.log.words == ["00000013", "00030605", "000000fe", "000000fd"])
    #expect(outcome.log.lengths == [512, 1065 - 1024])
    #expect(outcome.log.packets.map(\.count) == [244, 244, 24, 244, 244, 24, 41])
    #expect(outcome.log.packets.flatMap { $0 } == image.suotaData)
  }

  @Test func aStreamReceiverGetsNoPins() throws {
    let device = "sim:suota"
    let image = try image(1000, for: device)
    let outcome = try flash(image, onto: device)
    #expect(outcome.log.words == ["00000013", "000000fe", "000000fd"])
    #expect(outcome.log.lengths == [976, 2025 - 2 * 976])
    #expect(outcome.log.packets.flatMap { $0 } == image.suotaData)
  }

  @Test(arguments: [(512, [512]), (240, [512, 240]), (128, [512, 240, 128])])
  func theLongestSupportedBlockIsFound(_ buffer: Int, _ lengths: [Int]) throws {
    let device = "sim:suota-da1453x?block=\(buffer)"
    // The last block is complete.
    let outcome = try flash(try image(15 * 512 - 65, for: device), onto: device)
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.log.lengths == lengths)
  }

  @Test func theCallerCanStateMemoryPinsAndBank() throws {
    let device = "sim:suota-da1453x?memory=i2c&pins=03000104"
    let image = try image(5000, for: device)
    let outcome = try flash(image, onto: device) {
      $0.suota.memory = .i2c
      $0.suota.bank = 2
      $0.suota.pins = 0x0300_0104
    }
    #expect(try outcome.result.get().proof == .version)
    #expect(outcome.log.words.prefix(2) == ["02000012", "04010003"])
  }

  // MARK: The evidence

  /// The device checks only an XOR, or restarts with every end of the link, so the update of a
  /// device without a version is never reported as verified.
  @Test(arguments: ["sim:suota", "sim:suota-da1453x"])
  func aDeviceWithoutAVersionHasOnlyRestarted(_ device: String) throws {
    let image = try image(30_000, for: device)
    let outcome = try flash(image, onto: device + "?information=no")
    let result = try outcome.result.get()
    #expect(result.outcome == .restarted && result.proof == .restarted && !result.isVerified)
    #expect(outcome.runningImage == image.bytes)
  }

  @Test func theSameVersionIsNoEvidence() throws {
    for device in ["sim:suota", "sim:suota-da1453x"] {
      let image = try image(30_000, for: device, version: "1.2.0")
      let result = try flash(image, onto: device) { $0.sendsAnyway = true }.result.get()
      #expect(result.outcome == .restarted)
    }
  }

  @Test(arguments: ["sim:suota", "sim:suota-da1453x"])
  func aRevertedImageIsDetected(_ device: String) throws {
    let outcome = try flash(try image(30_000, for: device), onto: device + "?comes-back-old")
    #expect(throws: UpdateFault.oldVersionStillRuns(running: FirmwareVersion(1, 2, 0))) {
      try outcome.result.get()
    }
  }

  @Test func theRunningVersionIsNotSentAgain() throws {
    let image = try image(30_000, for: "sim:suota", version: "v_1.2.0")
    let result = try flash(image, onto: "sim:suota").result.get()
    #expect(result.outcome == .alreadyCurrent && result.bytesSent == 0)
  }

  @Test func anOlderVersionIsRefused() throws {
    let outcome = try flash(
      try image(30_000, for: "sim:suota", version: "1.1.0"), onto: "sim:suota")
    #expect(
      throws: UpdateFault.downgrade(
        running: FirmwareVersion(1, 2, 0), image: FirmwareVersion(1, 1, 0))
    ) { try outcome.result.get() }
  }

  /// A version with four numbers is compared as text.
  @Test func versionsAreComparedAsText() throws {
    let image = try image(100, for: "sim:suota", version: "v_6.0.18.1182")
    let running = ApplicationIdentity(firmwareRevision: "6.0.18.1182")
    let other = ApplicationIdentity(firmwareRevision: "6.0.17.1")
    #expect(running.runs(image) && !other.runs(image))
    #expect(
      running.agreement(withSUOTA: image, before: other, hasRestarted: false) == .sameVersion)
    #expect(
      running.agreement(withSUOTA: image, before: running, hasRestarted: true) == .restarted)
    #expect(other.agreement(withSUOTA: image, before: other, hasRestarted: true) == .restarted)
    #expect(other.agreement(withSUOTA: image, before: other, hasRestarted: false) == .untold)
    // The Software Revision is the version of the application.
    let both = ApplicationIdentity(firmwareRevision: "6.0.18.1182", softwareRevision: "1.0.0")
    #expect(!both.runs(image) && both.suotaVersion == FirmwareVersion(1, 0, 0))
  }

  // MARK: Errors

  private static func refusal(_ outcome: SUOTAOutcome) -> ProtocolRefusal? {
    if case .failure(.declined(_, let refusal)) = outcome.result { refusal } else { nil }
  }

  /// Devices, the device for which the image was built, and the code of the refusal.
  @Test(arguments: [
    ("suota", "suota-da1453x", "SUOTA 18"), ("suota-da1453x", "suota", "SUOTA 7"),
    ("suota?slot=16K", "suota", "SUOTA 19"),
    ("suota-da1453x?slot=16K", "suota-da1453x", "SUOTA 19"),
    ("suota-da1453x?pins=03000104", "suota-da1453x", "SUOTA 22"),
    ("suota-da1453x?memory=i2c", "suota-da1453x", "SUOTA 8"),
  ])
  func aRefusalOfTheDeviceIsAMessage(_ device: String, _ built: String, _ code: String) throws {
    let outcome = try flash(try image(20_000, for: "sim:" + built), onto: "sim:" + device)
    #expect(Self.refusal(outcome)?.code == code, "\(outcome.result)")
    #expect(outcome.log.restarts == [])
  }

  @Test func anUnknownBankIsRefused() throws {
    let device = "sim:suota-da1453x"
    let outcome = try flash(try image(2000, for: device), onto: device) { $0.suota.bank = 3 }
    #expect(Self.refusal(outcome)?.code == "SUOTA 17")
    #expect(outcome.counters.dataBytes == 0)
  }

  /// A DA1469x ignores the command for another memory.
  @Test func aMissingAnswerToTheStartIsReported() throws {
    let outcome = try flash(try image(2000, for: "sim:suota"), onto: "sim:suota") {
      $0.suota.memory = .i2c
    }
    #expect(Self.refusal(outcome)?.code == "no status")
  }

  @Test func otherImagesAreNotTaken() throws {
    let plain = try FirmwareImage.decode(name: "a.bin", bytes: [UInt8](repeating: 7, count: 4000))
    let outcome = try flash(plain, onto: "sim:suota")
    #expect(throws: UpdateFault.imageNotTaken(by: [.suota])) { try outcome.result.get() }
  }

  /// A device with another update service accepts no SUOTA image.
  @Test func anImageIsNotSentToADeviceWithoutTheService() throws {
    let outcome = try flash(try image(4000, for: "sim:suota"), onto: "sim:telink")
    #expect(throws: UpdateFault.imageNotTaken(by: [.telink])) { try outcome.result.get() }
  }

  // MARK: The rate

  /// The rate relative to the rate of the flash, which a stream keeps busy.
  @Test func aStreamIsLimitedByTheFlash() throws {
    let profile = "sim:suota?phy=2M&interval=15ms&slot=256K"
    let image = try image(128 * 1024, for: profile)
    let outcome = try flash(image, onto: profile)
    let rate = Double(image.bytes.count) / (try outcome.result.get().uploadTook / .seconds(1))
    let share = rate / (4096 / 0.125)
    #expect(share >= 0.85, "\(rate) B/s, \(share)")
  }

  /// The rate of blocks of 512 bytes: each takes the connection event of its packets, and the
  /// event of its status; the erase of a sector is added.
  @Test func blocksAreLimitedByTheirStatus() throws {
    let profile = "sim:suota-da1453x?phy=2M&interval=15ms&slot=256K&erasing=demand"
    let image = try image(64 * 1024, for: profile)
    let outcome = try flash(image, onto: profile)
    let rate = Double(image.bytes.count) / (try outcome.result.get().uploadTook / .seconds(1))
    let limit = 4096 / (0.085 + 8 * 0.03)
    #expect(rate / limit >= 0.85, "\(rate) of \(limit) B/s")
  }
}
