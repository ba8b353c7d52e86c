import Glibc
import OtaflashATT
@testable import OtaflashDevices
@testable import OtaflashFirmware
import OtaflashFleetHost
import OtaflashGATT
import OtaflashUpdate
import Testing

@testable import OtaflashProgram
@testable import otaflash

@Suite struct FaultReportTests {
  static let context = FaultContext(
    program: "otaflash", arguments: ["flash", "app.bin", "-d", "door-01", "--restart"],
    subject: Subject(device: "door-01", image: "app.bin"))

  static let expected: [(UpdateFault, FaultCode, Int32, Bool)] = [
    (.wrongHardware(device: HardwareID(1), image: HardwareID(2)), .wrongHardware, 5, false),
    (.doesNotFit(imageSize: 2, slotSize: 1), .doesNotFit, 5, false),
    (
      .downgrade(running: FirmwareVersion(1, 3, 0), image: FirmwareVersion(1, 2, 0)), .downgrade, 5,
      false
    ),
    (.versionUnknown, .versionUnknown, 5, false), (.hardwareUnknown, .hardwareUnknown, 5, false),
    (.declined(.prepare, .otaService(.downgrade)), .downgrade, 5, false),
    (.declined(.verify, .otaService(.checksumMismatch)), .imageRejected, 6, false),
    (.declined(.authorize, .otaService(.locked)), .deviceLocked, 77, false),
    (.declined(.prepare, .otaService(.wrongState)), .deviceRefused, 76, false),
    (.authorizationRequired, .authorizationRequired, 77, false), (.wrongKey, .wrongKey, 77, false),
    (.noUpdateService, .noUpdateService, 5, false), (.noPatch(.notUnderstood), .noPatch, 5, false),
    (.noPatch(.madeOtherImage), .noPatch, 6, false),
    (
      .unsupportedProtocolVersion(deviceLowest: 2, deviceHighest: 3), .protocolVersion, 76, false
    ),
    (.imageNotTaken(by: [.otaflash]), .imageNotTaken, 5, false),
    (.protocolAmbiguous([.otaflash]), .protocolAmbiguous, 69, false),
    (.protocolNotOffered(asked: .otaflash, offered: []), .noUpdateService, 5, false),
    (
      .declined(
        .prepare,
        ProtocolRefusal(
          code: "image 27", meaning: "the running image is newer", advice: "Build a newer one.",
          kind: .unsuitable)), .deviceRefused, 5, false
    ),
    (.reverted(running: FirmwareVersion(1, 2, 0)), .reverted, 6, false),
    (.oldVersionStillRuns(running: FirmwareVersion(1, 2, 0)), .oldVersionRuns, 6, false),
    (.differentImageRuns(running: FirmwareVersion(1, 2, 0)), .differentImageRuns, 6, false),
    (
      .otherVersionRuns(
        running: FirmwareVersion(1, 3, 0), expected: FirmwareVersion(0, 1, 0)),
      .differentImageRuns, 6, false
    ),
    (.nothingStarted, .oldVersionRuns, 6, false),
    (.unreachableAfterActivation(.supervisionTimeout), .unreachableAfterActivation, 75, true),
    (.stoppedAfterActivation(by: .cancellation, expected: nil), .interrupted, 75, true),
    (
      .stoppedAfterActivation(by: .timeLimit(.seconds(5)), expected: FirmwareVersion(1, 3, 0)),
      .timeLimit, 75, true
    ),
    (.imageRejected(expectedCRC32: 1, deviceCRC32: 2), .imageRejected, 6, true),
    (.blockKeepsFailing(atOffset: 4096, attempts: 4), .blockKeepsFailing, 6, false),
    (.stalled(atOffset: 4096, waited: .seconds(60)), .stalled, 75, true),
    (.noProgress(atOffset: 4096, repeats: 9), .noProgress, 76, false),
    (
      .linkLost(.supervisionTimeout, .upload, resumable: true, acknowledged: 98_304), .linkLost, 75,
      true
    ),
    (
      .linkLost(.closedByPeer, .connect, resumable: false, acknowledged: 0), .linkLost, 74, true
    ),
    (
      .couldNotConnect(.deviceNotFound(cause: "a", remedy: .advice("b"))), .deviceNotFound, 69, true
    ),
    (
      .couldNotConnect(.adapterUnavailable(cause: "a", remedy: .advice("b"))), .noAdapter, 69, false
    ),
    (.couldNotConnect(.permissionDenied(cause: "a", remedy: .advice("b"))), .permission, 77, false),
    (
      .couldNotConnect(.systemCall(name: "bind", errno: 5, cause: "a", remedy: .advice("b"))),
      .systemCall,
      71, false
    ),
    (.protocolViolation(.upload, "x"), .protocolViolation, 76, false),
    (.gatt(.connect, .transactionTimedOut), .linkLost, 74, true),
    (
      .gatt(.connect, .refused(AttributeReference(.first), .insufficientEncryption)), .permission,
      77, false
    ),
    (.cancelled(resumable: true, acknowledged: 10), .interrupted, 75, true),
    (
      .timedOut(after: .seconds(5), resumable: true, acknowledged: 10), .timeLimit, 75, true
    ),
    (
      .timedOut(after: .seconds(5), resumable: false, acknowledged: 0), .timeLimit, 74, true
    ),
  ]

  @Test(arguments: expected)
  func everyFaultHasItsCodeExitAndRemedy(
    _ fault: UpdateFault, _ code: FaultCode, _ exit: Int32, _ retryable: Bool
  ) {
    let report = FaultReport(fault, in: Self.context)
    #expect(report.code == code)
    #expect(report.exit.code == exit)
    #expect(report.retryable == retryable)
    #expect(!report.what.isEmpty && !report.what.contains("\n") && !report.what.hasSuffix("."))
    #expect(!report.why.isEmpty)
    #expect(report.help.hasPrefix("otaflash "))
  }

  @Test func aSignalKeepsTheStateOfTheImage() {
    let fault = UpdateFault.stoppedAfterActivation(by: .cancellation, expected: nil)
    let report = FaultReport(fault, in: Self.context)
    #expect(report.imageState == .restartRequested)
    #expect(report.interrupted(by: SIGTERM).imageState == .restartRequested)
  }

  /// A transfer cannot be resumed without kept data, or after a verdict of the device.
  @Test func endedTransfersAreNotResumed() {
    let rejection = ProtocolRefusal(code: "5", meaning: "m", advice: "r.", kind: .rejected)
    #expect(UpdateFault.declined(.activate, rejection).endsTransfer)
    #expect(UpdateFault.imageRejected(expectedCRC32: 1, deviceCRC32: 2).endsTransfer)
    #expect(UpdateFault.cancelled(resumable: false, acknowledged: 34_000).endsTransfer)
    #expect(!UpdateFault.cancelled(resumable: true, acknowledged: 34_000).endsTransfer)
    #expect(
      !UpdateFault.linkLost(.closedByPeer, .connect, resumable: false, acknowledged: 0)
        .endsTransfer, "data of an earlier run is kept")
    #expect(!UpdateFault.downgrade(running: .init(2, 0, 0), image: .init(1, 0, 0)).endsTransfer)
  }

  #if Fleet
  /// With `--again`, the printed command would abandon the run instead of continuing the run.
  @Test func anInterruptedRunIsContinuedWithoutAgain() {
    let context = FaultContext(
      program: "otaflash", arguments: ["fleet", "run", "--again", "doors.yaml"])
    let report = FaultReport(.fleet(.interrupted(run: "7f3a")), in: context)
    #expect(report.help == "otaflash fleet run doors.yaml")
  }
  #endif

  @Test func aRefusalThatRequiresARestartShowsTheOption() {
    let refusal = ProtocolRefusal(
      code: "8", meaning: "m", advice: "r.", kind: .protocolBroken, remedy: .startOver)
    let report = FaultReport(UpdateFault.declined(.upload, refusal), in: Self.context)
    #expect(report.help.hasSuffix(" --restart"))
  }

  static let commandFaults: [(CommandFault, FaultCode, Int32, String)] = [
    (
      .ambiguous(pattern: "door", matches: ["C0:FF:EE:00:00:01 (door-01)"]), .deviceAmbiguous, 69,
      "otaflash scan --name door"
    ),
    (.noMatch(pattern: "door", waited: .seconds(5)), .deviceNotFound, 69, "otaflash scan"),
    (
      .survey(.adapterUnavailable(cause: "It is off.", remedy: .advice("Switch it on."))),
      .noAdapter, 69,
      "otaflash doctor"
    ),
    (
      .survey(.permissionDenied(cause: "No right.", remedy: .advice("Ask."))), .permission, 77,
      "otaflash doctor"
    ),
    (.simulation("no such profile"), .usage, 64, "otaflash simulate --help"),
    (.simulation("held", errno: EWOULDBLOCK), .deviceBusy, 69, "otaflash flash app.bin -d door-01"),
    (.simulation("denied", errno: EACCES), .state, 77, "otaflash doctor"),
    (.simulation("full", errno: ENOSPC), .state, 73, "otaflash doctor"),
    (.simulation("broken", errno: EIO), .state, 71, "otaflash doctor"),
    (.state(.diskFull(path: "/s")), .state, 73, "otaflash doctor"),
    (.state(.permissionDenied(path: "/s")), .state, 77, "otaflash doctor"),
    (
      .state(.registryBusy(path: "/s", waited: .seconds(5))), .state, 71,
      "otaflash flash app.bin -d door-01"
    ),
    (
      .image(.malformed(path: "a b.hex", .malformed(.intelHex(.line(7, .endMissing))))), .image,
      65,
      "sed -n 7p -- 'a b.hex'"
    ),
    (.image(.malformed(path: "a.bin", .empty)), .image, 65, "ls -l -- a.bin"),
    (
      .image(.malformed(path: "a.bin", .descriptorDamaged(offset: 64))), .image, 65,
      "od -A d -t x1 -j 64 -N 32 -- a.bin"
    ),
    (
      .image(.malformed(path: "a.bin", .mcuboot(.secondHash(offset: 72)))), .image, 65,
      "od -A d -t x1 -j 72 -N 32 -- a.bin"
    ),
    (
      .image(.malformed(path: "-a b.zip", .manifest(.unknownKind))), .image, 65,
      "unzip -p './-a b.zip' manifest.json"
    ),
    (
      .image(.malformed(path: "a.zip", .initPacket(file: "a.dat", .empty))), .image, 65,
      "unzip -p a.zip a.dat | od -A d -t x1"
    ),
    (
      .image(.malformed(path: "a.zip", .severalImages(2))), .image, 65, "otaflash image info a.zip"
    ),
    (
      .unproved(name: "a.zip", .init(part: "a.bin", fault: .hashMissing)), .image, 65,
      "otaflash image info app.bin"
    ),
    (
      .unproved(name: "a.bin", .init(part: "a.bin", fault: .signatureWrong)), .signature, 65,
      "otaflash image info app.bin"
    ),
    (
      .unproved(name: "a.bin", .init(part: "a.bin", fault: .otherKey(stated: [1], wanted: [2]))),
      .otherSigner, 77, "otaflash image info app.bin"
    ),
    (
      .image(.malformed(path: "a.zip", .manifest(.missing))), .image, 65, "unzip -l a.zip"
    ),
    (
      .image(.malformed(path: "/dev/zero", .tooLarge(limit: 5))), .image, 65,
      "head -c 64 -- /dev/zero | od -A d -c"
    ),
    (.notFirmware(name: "app.bin", .html), .image, 65, "head -c 256 -- app.bin"),
    (.notFirmware(name: "app.bin", .gzip), .image, 65, "od -A d -t x1 -N 64 -- app.bin"),
    (
      .identityUnknown(name: "app.bin", version: true, hardware: true), .versionUnknown, 65,
      "otaflash flash app.bin -d door-01 --image-version 1.0.0 --hardware 0x0000A001"
    ),
    (
      .identityUnknown(name: "app.bin", version: false, hardware: true), .hardwareUnknown, 65,
      "otaflash flash app.bin -d door-01 --hardware 0x0000A001"
    ),
    (
      .image(
        .malformed(
          path: "a.hex",
          .addresses(
            .farApart([
              .init(region: AddressRegion(of: 0..<8), dataCount: 3),
              .init(region: AddressRegion(of: 0x6000_0000..<0x6000_0008), dataCount: 8),
            ])))), .image, 65,
      "otaflash flash app.bin -d door-01 --region 0x60000000..0x60000008"
    ),
    (
      .otherBoard(name: "a.bin", .notStated(.vendor)), .wrongHardware, 5,
      "otaflash image info app.bin"
    ),
    (
      .verificationKey(path: "key.pem", .privateKey), .keyFile, 78, "head -n 1 -- key.pem"
    ),
  ]

  @Test(arguments: commandFaults)
  func everyFaultOfACommandHasItsCodeExitAndRemedy(
    _ fault: CommandFault, _ code: FaultCode, _ exit: Int32, _ help: String
  ) {
    let report = FaultReport(fault, in: Self.context)
    #expect(report.code == code)
    #expect(report.exit.code == exit)
    #expect(report.help == help)
  }

  @Test func everyRefusalOfADeviceHasAMessage() {
    for refusal in OTARefusal.allCases {
      let fault = UpdateFault.declined(.prepare, .otaService(refusal))
      let report = FaultReport(fault, in: Self.context)
      #expect(report.what.contains(refusal.name))
      #expect([5, 6, 76, 77].contains(report.exit.code))
    }
  }

  @Test func thePrintedCommandResumes() {
    let lost = FaultReport(
      UpdateFault.linkLost(
        .supervisionTimeout, .upload, resumable: true, acknowledged: 98_304),
      in: Self.context)
    #expect(lost.help == "otaflash flash app.bin -d door-01")
    #expect(lost.why.contains("98,304"))
  }

  @Test func aSignalReplacesTheExitStatusOfAFault() {
    let report = FaultReport(
      UpdateFault.cancelled(resumable: true, acknowledged: 5), in: Self.context
    ).interrupted(by: 15)
    #expect(report.exit.code == 143)
    #expect(report.code == .interrupted)
  }

  @Test func codesAreUnique() {
    #expect(Set(FaultCode.allCases.map(\.rawValue)).count == FaultCode.allCases.count)
    #expect(FaultCode.allCases.allSatisfy { $0.rawValue.hasPrefix("E-") })
  }
}
