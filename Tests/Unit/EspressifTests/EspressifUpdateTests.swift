import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of the five implementations.
@Suite struct EspressifUpdateTests {
  @Test(arguments: implementations, [23, 100, 247, 512])
  func anApplicationIsReplaced(_ name: String, _ mtu: Int) throws {
    let image = try application()
    let outcome = try flash([image], onto: quick(name)) { $0.mtu = mtu }
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds == 0)
  }

  /// Sizes at the limits of sectors and packets.
  @Test(arguments: implementations)
  func everySizeAtALimitIsAccepted(_ name: String) throws {
    let overhead = try application(4).bytes.count - 4
    for size in [4, 4096 - overhead, 8192 - overhead, 8208 - overhead, 8188 - overhead] {
      let image = try application(size)
      let outcome = try flash([image], onto: quick(name))
      #expect(outcome.runningImage == image.bytes, "\(size)")
    }
  }

  @Test(arguments: implementations)
  func aVersionInDeviceInformationIsEvidence(_ name: String) throws {
    let image = try application()
    let known = try flash([image], onto: quick(name, "information=yes")).last.get()
    #expect(known.outcome == .flashed && known.proof == .version)
    #expect(known.from == FirmwareVersion(1, 2, 0) && known.to == FirmwareVersion(1, 3, 0))
    let unknown = try flash([image], onto: quick(name, "information=no")).last.get()
    #expect(unknown.outcome == .restarted)
  }

  /// The same version ran before, so it is no evidence.
  @Test func theSameVersionIsNoEvidence() throws {
    let image = try application(version: "1.2.0")
    let result = try flash([image], onto: quick("esp-raw")).last.get()
    #expect(result.outcome == .restarted)
  }

  @Test func theSameVersionIsNotSentAgain() throws {
    let image = try application(version: "1.2.0")
    let result = try flash([image], onto: quick("esp-raw")) { $0.sendsAnyway = false }
    #expect(try result.last.get().outcome == .alreadyCurrent)
    let older = try application(version: "1.1.9")
    #expect(
      throws: UpdateFault.downgrade(
        running: FirmwareVersion(1, 2, 0), image: FirmwareVersion(1, 1, 9))
    ) { try flash([older], onto: quick("esp-raw")).last.get() }
  }

  @Test(arguments: implementations)
  func anImageForAnotherChipIsNotReportedAsInstalled(_ name: String) throws {
    let outcome = try flash([application(chip: 9)], onto: quick(name))
    #expect(outcome.refusal?.kind == .rejected, "\(outcome.last)")
    #expect(outcome.refusal?.remedy == .restartDevice)
  }

  @Test(arguments: ["esp-raw", "esp-bluedroid"])
  func theOldVersionIsReported(_ name: String) throws {
    let image = try application()
    let outcome = try flash([image], onto: quick(name, "information=yes&comes-back-old"))
    #expect(outcome.fault == .oldVersionStillRuns(running: FirmwareVersion(1, 2, 0)))
  }

  // MARK: Times

  /// The erase before the answer to START takes up to 11 s: 128 pages of 85 ms.
  @Test(arguments: implementations)
  func aSlowFlashIsAwaited(_ name: String) throws {
    let image = try application(60_000)
    let profile = "sim:\(name)?erase=85ms&write=40ms&slot=512K"
    let outcome = try flash([image], onto: profile)
    #expect(outcome.fault == nil)
    #expect(outcome.runningImage == image.bytes)
    #expect(outcome.log.rewinds == 0)
  }

  @Test func theEraseBeforeTheAnswerMayTakeLongerThanAnATTTransaction() throws {
    let image = try application(400_000)
    let outcome = try flash([image], onto: "sim:esp-raw?erase=400ms&write=0&slot=512K")
    #expect(outcome.runningImage == image.bytes)
  }

  // MARK: Selection

  @Test func aServiceWithoutCommandsIsNotOffered() throws {
    let outcome = try flash([application()], onto: quick("esp-raw", "lookalike=yes"))
    #expect(outcome.fault == .noUpdateService)
  }

  @Test(arguments: implementations)
  func theProtocolIsDetected(_ name: String) throws {
    let outcome = try flash([application()], onto: quick(name))
    let devices = outcome.log.all.compactMap { event in
      if case .device(let report) = event { report.updateProtocol } else { nil }
    }
    #expect(devices.first == .espressif)
  }

  /// A binary that is not an image of ESP-IDF is not for this service.
  @Test func onlyImagesForTheChipAreAccepted() throws {
    let image = FirmwareImage(
      name: "a.bin", format: .binary, bytes: body(5000), version: nil, hardware: nil)
    let outcome = try flash([image], onto: quick("esp-raw"))
    #expect(outcome.fault == .imageNotTaken(by: [.espressif]))
  }

  @Test(arguments: implementations)
  func anEncryptedLinkIsEstablishedOnDemand(_ name: String) throws {
    let image = try application()
    let outcome = try flash([image], onto: quick(name, "security=encrypted"))
    #expect(outcome.runningImage == image.bytes, "\(outcome.last)")
  }
}
