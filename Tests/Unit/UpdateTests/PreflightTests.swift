import OtaflashFirmware
import OtaflashUpdate
import Testing

@Suite struct PreflightTests {
  private static let board = HardwareID(0xA001)
  private static let otherBoard = HardwareID(0xB002)
  private static let running = FirmwareVersion(1, 2, 0)

  @Test func anImageForTheBoardIsSentUnchanged() throws {
    let image = makeImage()
    let plan = try plan(image)
    #expect(plan.image == image)
    #expect(plan.version == FirmwareVersion(1, 3, 0))
    #expect(plan.hardware == Self.board)
    #expect(!plan.allowsDowngrade && !plan.allowsOtherHardware)
  }

  @Test func theSameVersionWithOtherContentIsSent() throws {
    #expect(try plan(makeImage(version: Self.running)).version == Self.running)
  }

  @Test func anImageForAnotherBoardIsRefusedUnlessAllowed() throws {
    let image = makeImage(hardware: Self.otherBoard)
    #expect(throws: UpdateFault.wrongHardware(device: Self.board, image: Self.otherBoard)) {
      try Preflight.check(image, against: device(), options: UpdateOptions())
    }
    let plan = try plan(image) { $0.allowsOtherHardware = true }
    #expect(plan.hardware == Self.otherBoard)
    #expect(plan.allowsOtherHardware && !plan.allowsDowngrade)
  }

  @Test func anImageMayFillTheSlotButNotExceedIt() throws {
    #expect(try plan(makeImage(size: 0x4000)).image.bytes.count == 0x4000)
    #expect(throws: UpdateFault.doesNotFit(imageSize: 0x4001, slotSize: 0x4000)) {
      try Preflight.check(makeImage(size: 0x4001), against: device(), options: permissive)
    }
  }

  @Test(arguments: [FirmwareVersion(1, 1, 65_535), FirmwareVersion(0, 255, 0)])
  func anOlderVersionIsRefusedUnlessAllowed(_ older: FirmwareVersion) throws {
    let image = makeImage(version: older)
    #expect(throws: UpdateFault.downgrade(running: Self.running, image: older)) {
      try Preflight.check(image, against: device(), options: UpdateOptions())
    }
    let plan = try plan(image) { $0.allowsDowngrade = true }
    #expect(plan.version == older)
    #expect(plan.allowsDowngrade && !plan.allowsOtherHardware)
  }

  @Test func anAllowedUnknownVersionIsAnnouncedAsTheLowest() throws {
    let image = makeImage(version: nil)
    #expect(throws: UpdateFault.versionUnknown) {
      try Preflight.check(image, against: device(), options: UpdateOptions())
    }
    let plan = try plan(image) { $0.allowsUnknown = true }
    #expect(plan.version == FirmwareVersion(0, 0, 0))
    #expect(plan.allowsDowngrade, "or the device would refuse version 0.0.0")
  }

  @Test func allowedUnknownHardwareIsAnnouncedAsTheHardwareOfTheBoard() throws {
    let image = makeImage(hardware: nil)
    #expect(throws: UpdateFault.hardwareUnknown) {
      try Preflight.check(image, against: device(), options: UpdateOptions())
    }
    let plan = try plan(image) { $0.allowsUnknown = true }
    #expect(plan.hardware == Self.board)
    #expect(!plan.allowsOtherHardware && !plan.allowsDowngrade)
  }

  @Test func anImageForAnyBoardIsAnnouncedWithTheBoardsID() throws {
    let plan = try plan(makeImage(hardware: .any))
    #expect(plan.hardware == Self.board)
    #expect(!plan.allowsOtherHardware && !plan.allowsDowngrade)
    let silent = DeviceReport(.otaflash, protocolVersion: 1)
    #expect(try self.plan(makeImage(hardware: .any), onto: silent).hardware == .any)
  }

  @Test func theRunningImageIsSentAgainOnlyOnRequest() throws {
    let image = makeImage(version: Self.running)
    var device = device()
    device.runningCRC32 = image.crc32
    #expect(
      try Preflight.check(image, against: device, options: UpdateOptions()) == .alreadyCurrent)
    #expect(try plan(image, onto: device) { $0.sendsAnyway = true }.image == image)
    device.runningCRC32 = image.crc32 ^ 1
    #expect(try plan(image, onto: device).image == image)
  }

  @Test func theRunningImageNeedsNoKey() throws {
    let image = makeImage(version: Self.running)
    var device = device()
    device.runningCRC32 = image.crc32
    device.needsAuthorization = true
    #expect(
      try Preflight.check(image, against: device, options: UpdateOptions()) == .alreadyCurrent)
  }

  @Test func aDeviceThatRequiresAKeyReceivesNothingWithoutAKey() throws {
    var device = device()
    device.needsAuthorization = true
    #expect(throws: UpdateFault.authorizationRequired) {
      try Preflight.check(makeImage(), against: device, options: UpdateOptions())
    }
    #expect(try plan(makeImage(), onto: device) { $0.key = [1] }.hardware == Self.board)
  }

  @Test func aDeviceWithoutInformationReceivesTheImage() throws {
    let silent = DeviceReport(.otaflash, protocolVersion: 1)
    #expect(try plan(makeImage(size: 0x10000), onto: silent).hardware == Self.board)
  }

  @Test func eachOverrideAffectsOnlyItsCheck() {
    let image = makeImage(
      size: 0x4001, version: FirmwareVersion(1, 0, 0), hardware: Self.otherBoard)
    var options = UpdateOptions()
    options.allowsUnknown = true
    options.sendsAnyway = true
    options.startsOver = true
    #expect(throws: UpdateFault.wrongHardware(device: Self.board, image: Self.otherBoard)) {
      try Preflight.check(image, against: device(), options: options)
    }
    options.allowsOtherHardware = true
    #expect(throws: UpdateFault.doesNotFit(imageSize: 0x4001, slotSize: 0x4000)) {
      try Preflight.check(image, against: device(), options: options)
    }
  }

  // MARK: The parties

  private var permissive: UpdateOptions {
    var options = UpdateOptions()
    options.allowsDowngrade = true
    options.allowsOtherHardware = true
    options.allowsUnknown = true
    return options
  }

  private func plan(
    _ image: FirmwareImage, onto device: DeviceReport? = nil,
    _ adjust: (inout UpdateOptions) -> Void = { _ in }
  ) throws -> UpdatePlan {
    var options = UpdateOptions()
    adjust(&options)
    let decision = try Preflight.check(image, against: device ?? self.device(), options: options)
    guard case .send(let plan) = decision else { throw Unexpected(decision: decision) }
    return plan
  }

  private struct Unexpected: Error { let decision: Preflight }

  private func device() -> DeviceReport {
    var report = DeviceReport(.otaflash, protocolVersion: 1)
    report.hardware = Self.board
    report.runningVersion = Self.running
    report.runningCRC32 = 0x1122_3344
    report.slotSize = 0x4000
    return report
  }

  private func makeImage(
    size: Int = 100, version: FirmwareVersion? = FirmwareVersion(1, 3, 0),
    hardware: HardwareID? = PreflightTests.board
  ) -> FirmwareImage {
    FirmwareImage(
      name: "test.bin", format: .binary, bytes: [UInt8](repeating: 0x5A, count: size),
      version: version, hardware: hardware)
  }
}
