import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashSimulation
import Testing

@testable import OtaflashUpdate

/// Tests of complete updates of simulated devices of Silicon Labs.
@Suite struct SilabsUpdateTests {
  static let old = FirmwareVersion(1, 2, 0)
  static let new = FirmwareVersion(1, 3, 0)
  static let image = file(20_000)

  @Test(arguments: [
    "silabs", "silabs?start=loader", "silabs?service=other", "silabs?service=other&start=loader",
    "silabs?versions=no", "silabs?versions=no&start=loader", "silabs?mtu=23", "silabs-app-ota",
    "silabs-app-ota?mtu=100",
  ])
  func anApplicationIsReplaced(_ device: String) throws {
    let outcome = try update([Self.image], onto: "sim:" + device)
    let result = try outcome.last.get()
    #expect(result.outcome == .flashed && result.proof == .version && result.to == Self.new)
    #expect(result.from == (device.contains("start=loader") ? nil : Self.old))
    #expect(outcome.runs(Self.image))
    #expect(outcome.log.restarts == [] && outcome.log.losses == 0)
  }

  /// The application receives one value at Control, and the loader three values.
  @Test func theSequenceIsComplete() throws {
    let outcome = try update([Self.image], onto: "sim:silabs")
    let requests = outcome.log.writes(0x12)
    #expect(requests.filter { $0.count == 1 } == [[0x00], [0x00], [0x03], [0x04]])
    let data = outcome.log.crossings.filter {
      $0.direction == .sent && [0x12, 0x52].contains($0.pdu.first) && $0.pdu.count > 4
    }
    #expect(data.flatMap { Array($0.pdu.dropFirst(3)) } == Self.image)
    #expect(data.allSatisfy { $0.pdu.count <= 247 })
    let acknowledged = data.indices.filter { data[$0].pdu.first == 0x12 }
    #expect(acknowledged.first == 0 && acknowledged.last == data.count - 1)
    let distances = zip(acknowledged.dropFirst(), acknowledged).map { $0 - $1 }.dropLast()
    #expect(distances.allSatisfy { (8...16).contains($0) }, "\(distances)")
  }

  @Test func theCallerMayRequireAcknowledgedWrites() throws {
    let outcome = try update([file(4000)], onto: "sim:silabs") { $0.mode = .withResponse }
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.writes(0x52).isEmpty)
  }

  @Test func theSameVersionIsNotSentAgain() throws {
    let outcome = try update([Self.image, Self.image], onto: "sim:silabs") {
      $0.sendsAnyway = false
    }
    #expect(try outcome.last.get().outcome == .alreadyCurrent)
  }

  @Test(arguments: ["silabs", "silabs-app-ota"])
  func aDryRunWritesNothing(_ device: String) throws {
    let outcome = try update([Self.image], onto: "sim:" + device) { $0.isDryRun = true }
    #expect(try outcome.last.get().outcome == .wouldFlash)
    #expect(outcome.log.writes(0x12).isEmpty && outcome.log.writes(0x52).isEmpty)
  }

  /// Device Information and the loader report versions.
  @Test func anOlderImageIsRefused() throws {
    let older = file(4000, FirmwareVersion(1, 1, 0))
    #expect(throws: UpdateFault.downgrade(running: Self.old, image: FirmwareVersion(1, 1, 0))) {
      try update([older], onto: "sim:silabs").last.get()
    }
    let loader = try update([Self.image, older], onto: "sim:silabs?information=no")
    guard case .failure(.downgrade(Self.new, FirmwareVersion(1, 1, 0))) = loader.last else {
      Issue.record("\(loader.last)")
      return
    }
    let allowed = try update([Self.image, older], onto: "sim:silabs?information=no") {
      $0.allowsDowngrade = true
    }
    #expect(try allowed.last.get().outcome == .flashed && allowed.runs(older))
  }

  @Test(arguments: ["sim:silabs", "sim:silabs-app-ota"])
  func onlyGBLFilesAreAccepted(_ device: String) throws {
    let image = FirmwareImage(
      name: "app.bin", format: .binary, bytes: program(1000), version: Self.new,
      hardware: HardwareID(0xA001))
    let fault = try simulate(device) { (board, clock) -> UpdateFault? in
      do throws(UpdateFault) {
        _ = try await FirmwareUpdate(image: image).run(on: board.dialer, clock: clock)
        return nil
      } catch {
        return error
      }
    }
    #expect(fault == .imageNotTaken(by: [.silabs]))
  }

  // MARK: Evidence

  /// The loader has checked the file and overwritten the application.
  @Test func theLoadersVerdictIsEvidence() throws {
    let result = try update([Self.image], onto: "sim:silabs?information=no").last.get()
    #expect(result.outcome == .flashed && result.proof == .bootloader)
  }

  /// Application OTA never reports its verdict.
  @Test func aRestartIsNoEvidence() throws {
    let silent = try update([Self.image], onto: "sim:silabs-app-ota?information=no")
    let result = try silent.last.get()
    #expect(result.outcome == .restarted && result.proof == .restarted && !result.isVerified)
    #expect(silent.runs(Self.image))
    let same = file(20_000, Self.old)
    let again = try update([same], onto: "sim:silabs-app-ota").last.get()
    #expect(again.outcome == .restarted, "the version ran before")
  }

  /// A device that rejects the file does not restart.
  @Test func aFileThatIsNotInstalledIsReported() throws {
    let silent = try update([Self.image], onto: "sim:silabs-app-ota?information=no&signed=yes")
    #expect(silent.refusal == .silabsNotInstalled)
    #expect(throws: UpdateFault.oldVersionStillRuns(running: Self.old)) {
      try update([Self.image], onto: "sim:silabs-app-ota?signed=yes").last.get()
    }
  }

  /// The bootloader rejects the file after the restart.
  @Test(arguments: ["comes-back-old", "reverts"])
  func theOldVersionIsReported(_ fault: String) throws {
    #expect(throws: UpdateFault.oldVersionStillRuns(running: Self.old)) {
      try update([Self.image], onto: "sim:silabs-app-ota?" + fault).last.get()
    }
  }

  @Test(arguments: ["silabs", "silabs-app-ota"])
  func anotherImageIsReported(_ device: String) throws {
    let outcome = try update([Self.image], onto: "sim:\(device)?other-image")
    #expect(
      throws: UpdateFault.otherVersionRuns(
        running: FirmwareVersion(0, 0, 1), expected: Self.new)
    ) { try outcome.last.get() }
  }

  // MARK: Interruptions

  /// The application is gone, and the next run finds the loader.
  @Test func theNextRunContinuesInTheLoader() throws {
    let outcome = try update(
      [file(100_000), Self.image], onto: "sim:silabs", cancelAfter: .seconds(5))
    guard case .failure(.cancelled(resumable: false, let acknowledged)) = outcome.results[0] else {
      Issue.record("\(outcome.results[0])")
      return
    }
    #expect(acknowledged > 4000)
    #expect(try outcome.last.get().from == nil && outcome.runs(Self.image))
  }

  @Test func aLostLinkRestartsTheTransfer() throws {
    let image = file(100_000)
    let outcome = try update([image], onto: "sim:silabs?cut-after=5s")
    let result = try outcome.last.get()
    #expect(result.outcome == .flashed && result.resumes == 0 && outcome.log.losses == 1)
    #expect(result.bytesSent > image.count + 10_000 && outcome.runs(image))
  }

  /// The loader resets when the link is silent for 2 s.
  @Test func aLoaderThatResetsOnASilentLinkIsFoundAgain() throws {
    let held = Once()
    let outcome = try update([Self.image], onto: "sim:silabs?inactivity=2s") { _ in
    } through: { link, clock in
      AlteringCommands(link, clock) { number, _ in
        number == 40 && held.take() ? .delayed(.seconds(5)) : .sent
      }
    }
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.losses == 1 && outcome.runs(Self.image))
  }

  @Test func anErasedStorageIsAwaited() throws {
    let outcome = try update([Self.image], onto: "sim:silabs-app-ota?slot=512K&erase=85ms")
    #expect(try outcome.last.get().outcome == .flashed)
    #expect(outcome.log.all.contains(.deviceBusy))
  }
}
