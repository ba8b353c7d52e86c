import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of a simulated device with Nordic's Secure DFU bootloader.
@Suite struct SecureDFUUpdateTests {
  static let bytes = firmware(30_000)

  @Test(arguments: ["buttonless", "bonded", "experimental", "button"])
  func anApplicationIsReplaced(_ entry: String) throws {
    let security = entry == "bonded" ? "&security=encrypted" : ""
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?entry=\(entry)\(security)")
    let result = try outcome.last.get()
    #expect(result.outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.rewinds == 0, "nothing was lost")
  }

  @Test func unreadableValuesAreNotReported() throws {
    let silent = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?information=no")
    #expect(try silent.last.get().proof == .bootloader)
    #expect(try silent.last.get().to == nil)
  }

  @Test(arguments: [23, 27, 65, 185, 247, 498])
  func everyMTUIsSupported(_ mtu: Int) throws {
    let outcome = try flash(
      [secure(Self.bytes)], onto: "sim:nordic-dfu?mtu=\(mtu)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.rewinds == 0)
  }

  @Test(arguments: [1, 243, 244, 4095, 4096, 4097, 8192])
  func everySizeIsSupported(_ size: Int) throws {
    let bytes = firmware(size)
    let outcome = try flash([secure(bytes)], onto: "sim:nordic-dfu")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == bytes)
  }

  /// The bootloader restarts between the images, and waits 10 s for the next image.
  @Test(arguments: ["dual", "single"])
  func aSystemAndItsApplicationAreTwoTransfers(_ banks: String) throws {
    let system = try secure(
      firmware(20_000, seed: 2), InitCommand(type: 3), role: .softdeviceAndBootloader)
    let package = FirmwarePackage(
      name: "all.zip", kind: .nordicSecureDFU, parts: [system, try secure(Self.bytes)])
    let outcome = try flash(packages: [package], onto: "sim:nordic-dfu?banks=\(banks)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect(outcome.log.offsets == [0, 0])
  }

  @Test func theHostAdaptsToASlowErase() throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?erase=200ms")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
    #expect((1...4).contains(outcome.log.rewinds), "\(outcome.log.rewinds)")
  }

  static let refusals: [(InitCommand, String, ProtocolRefusal.Kind)] = [
    (InitCommand(firmwareVersion: 0), "11/5", .unsuitable),
    (InitCommand(hardwareVersion: 51), "11/6", .unsuitable),
    (InitCommand(softDevices: [0x101]), "11/7", .unsuitable),
  ]

  @Test(arguments: refusals)
  func aRefusedInitPacketHasAMessage(
    _ command: InitCommand, _ code: String, _ kind: ProtocolRefusal.Kind
  ) throws {
    let outcome = try flash([secure(Self.bytes, command)], onto: "sim:nordic-dfu")
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.code == "Secure DFU " + code)
    #expect(refusal.kind == kind)
    #expect(outcome.runningImage != Self.bytes)
  }

  @Test func anImageWithAnotherHashIsNotStarted() throws {
    let outcome = try flash(
      [secure(Self.bytes, InitCommand(hashedBytes: [1, 2, 3]))], onto: "sim:nordic-dfu")
    guard case .failure(.declined(.activate, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.code == "Secure DFU 11/12" && refusal.kind == .rejected)
    #expect(outcome.runningImage != Self.bytes)
  }

  /// The simulated bootloader checks the signature as shipped bootloaders do, so a developer can
  /// test the signature of a release before its distribution.
  @Test(arguments: [(InitCommand(isSigned: false), "11/8"), (InitCommand(isDamaged: true), "5")])
  func aPackageThatIsNotSignedWithItsKeyIsRefused(
    _ command: InitCommand, _ code: String
  ) throws {
    let image = try secure(Self.bytes, command)
    let outcome = try flash([image], onto: "sim:nordic-dfu")
    guard case .failure(.declined(.prepare, let refusal)) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
    #expect(refusal.code == "Secure DFU \(code)" && refusal.kind == .rejected)
    #expect(outcome.runningImage != Self.bytes)
    #expect(try flash([image], onto: "sim:nordic-dfu?key=none").last.get().outcome == .flashed)
  }

  @Test func aRepeatedlyDamagedInitPacketIsNotReportedAsAnImage() throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?mtu=65") { _ in
    } losing: { number, _ in
      number.isMultiple(of: 2)
    }
    #expect(throws: UpdateFault.declined(.prepare, .initPacketDamaged)) { try outcome.last.get() }
  }

  @Test func bondedButtonlessDFUPairsAutomatically() throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?entry=bonded")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
  }

  @Test(arguments: [
    "wrong-crc-once", "jump-back", "foreign-state", "cut-at-pdu=40", "cut-at-pdu=90",
    "cut-after=1s", "notification-loss=1%",
  ])
  func aTemporaryFaultDoesNotEndTheUpdate(_ fault: String) throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?\(fault)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
  }

  @Test(arguments: ["wrong-crc-always", "repeat-offset", "beyond-end"])
  func theUpdateEndsIfTheDeviceRepeatedlyReportsWrongValues(_ fault: String) throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?\(fault)")
    #expect(throws: UpdateFault.self) { try outcome.last.get() }
    #expect(outcome.runningImage != Self.bytes)
  }

  // MARK: Resume

  @Test func anUpdateResumesWithTheObjectAfterALostLink() throws {
    let bytes = firmware(60_000)
    let outcome = try flash([secure(bytes)], onto: "sim:nordic-dfu?cut-after=3s")
    let result = try outcome.last.get()
    #expect(outcome.runningImage == bytes)
    #expect(result.resumes == 1)
    #expect(try #require(outcome.log.offsets.last) > 4096)
    #expect(result.bytesSent < bytes.count + 4096, "at most one object is sent twice")
  }

  @Test func aCancelledUpdateIsResumedByTheNext() throws {
    let bytes = firmware(60_000)
    let part = try secure(bytes)
    let outcome = try flash([part, part], onto: "sim:nordic-dfu", cancelAfter: .seconds(3))
    guard case .failure(.cancelled) = outcome.results[0] else {
      Issue.record("\(outcome.results[0])")
      return
    }
    let result = try outcome.last.get()
    #expect(result.resumes == 1 && result.bytesSent < bytes.count - 4096)
    #expect(outcome.runningImage == bytes)
  }

  @Test func aRestartDiscardsTheHeldData() throws {
    let part = try secure(Self.bytes)
    let outcome = try flash(
      [part, part], onto: "sim:nordic-dfu", cancelAfter: .milliseconds(2500)
    ) { $0.startsOver = true }
    let result = try outcome.last.get()
    #expect(outcome.log.offsets.allSatisfy { $0 == 0 })
    #expect(result.bytesSent == Self.bytes.count)
    #expect(outcome.runningImage == Self.bytes)
  }

  @Test(arguments: [2, 9, 30, 60, 100])
  func anUpdateSurvivesAResetOfTheDevice(_ operation: Int) throws {
    let outcome = try flash(
      [secure(Self.bytes)], onto: "sim:nordic-dfu?reset-at-flash-op=\(operation)")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.runningImage == Self.bytes)
  }

  // MARK: The end

  static let new = FirmwareVersion(1, 3, 0)

  @Test func theVersionIsComparedIfItIsReported() throws {
    let image = try secure(firmware(20_000, Self.new), version: Self.new)
    let result = try flash([image], onto: "sim:nordic-dfu").last.get()
    #expect(result.proof == .version)
    #expect(result.from == FirmwareVersion(1, 2, 0) && result.to == Self.new)
  }

  @Test func anOlderVersionIsNotSent() throws {
    let old = FirmwareVersion(1, 1, 0)
    let image = try secure(firmware(20_000, old), version: old)
    let refused = try flash([image], onto: "sim:nordic-dfu")
    #expect(throws: UpdateFault.downgrade(running: FirmwareVersion(1, 2, 0), image: old)) {
      try refused.last.get()
    }
    let allowed = try flash([image], onto: "sim:nordic-dfu") { $0.allowsDowngrade = true }
    #expect(try allowed.last.get().to == old)
  }

  /// Without a version, only the values of the application before and after the update remain. If
  /// they are equal, or if the device was first found in its bootloader, they are not evidence.
  @Test(arguments: [
    ("nordic-dfu", UpdateResult.Proof.changed), ("nordic-dfu?comes-back-old", .bootloader),
    ("nordic-dfu?entry=button", .bootloader), ("nordic-dfu?information=no", .bootloader),
  ])
  func withoutAVersionTheReportStatesTheWeakerEvidence(
    _ device: String, _ proof: UpdateResult.Proof
  ) throws {
    let result = try flash([secure(Self.bytes)], onto: "sim:" + device).last.get()
    #expect(result.outcome == .flashed)
    #expect(result.proof == proof)
    #expect(result.validation == nil)
  }

  @Test func thePreviousVersionIsNotEvidence() throws {
    let old = FirmwareVersion(1, 2, 0)
    let image = try secure(firmware(20_000, old), version: old)
    let result = try flash([image], onto: "sim:nordic-dfu").last.get()
    #expect(result.outcome == .flashed && result.from == old && result.to == old)
    #expect(result.proof == .bootloader)
  }

  @Test func theRunningVersionIsSentAgainOnlyOnRequest() throws {
    let old = FirmwareVersion(1, 2, 0)
    let image = try secure(firmware(20_000, old), version: old)
    let outcome = try flash([image], onto: "sim:nordic-dfu") { $0.sendsAnyway = false }
    let result = try outcome.last.get()
    #expect(result.outcome == .alreadyCurrent && result.proof == .version)
    #expect(outcome.log.offsets.isEmpty && result.bytesSent == 0)
    let opcodes = outcome.log.crossings.filter { $0.direction == .sent }.map { $0.pdu[0] }
    #expect(!opcodes.contains(0x52) && !opcodes.contains(0x12), "no value was written")
  }

  /// A version that the user specifies for a package applies to the application.
  @Test func anApplicationDoesNotReportTheVersionOfASystem() throws {
    let old = FirmwareVersion(1, 2, 0)
    let system = try secure(
      firmware(20_000, seed: 2), InitCommand(type: 3), role: .softdeviceAndBootloader, version: old)
    let package = FirmwarePackage(
      name: "all.zip", kind: .nordicSecureDFU,
      parts: [system, try secure(firmware(20_000, old), version: old)])
    let outcome = try flash(packages: [package], onto: "sim:nordic-dfu") {
      $0.sendsAnyway = false
    }
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.offsets == [0, 0])
  }

  @Test func afterARefusedPackageTheApplicationRunsAgainImmediately() throws {
    let refused = try secure(Self.bytes, InitCommand(hardwareVersion: 51))
    let outcome = try flash([refused, try secure(Self.bytes)], onto: "sim:nordic-dfu")
    #expect(throws: UpdateFault.self) { try outcome.results[0].get() }
    #expect(try outcome.last.get().from == FirmwareVersion(1, 2, 0), "its application was running")
    // Otherwise the bootloader would have waited for two minutes.
    #expect(outcome.elapsed < .seconds(30))
  }

  @Test(arguments: ["comes-back-old", "reverts", "other-image"])
  func anImageThatDoesNotRunIsNotReportedAsSuccess(_ fault: String) throws {
    let image = try secure(firmware(20_000, Self.new), version: Self.new)
    let outcome = try flash([image], onto: "sim:nordic-dfu?\(fault)")
    #expect(throws: UpdateFault.self) { try outcome.last.get() }
  }

  @Test func aMissingDeviceIsNotReportedAsSuccess() throws {
    let outcome = try flash([secure(Self.bytes)], onto: "sim:nordic-dfu?never-returns")
    guard case .failure(.unreachableAfterActivation) = outcome.last else {
      Issue.record("\(outcome.last)")
      return
    }
  }
}
