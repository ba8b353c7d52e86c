import Glibc
import OtaflashATT
import OtaflashBlueZ
import OtaflashFirmware
import OtaflashGATT
import OtaflashState
import OtaflashUpdate

@testable import OtaflashProgram
@testable import otaflash

// Faults of devices, links and images.
extension FaultSamples {
  static let updates: [UpdateFault] = {
    var all = ownUpdates
    all += OTARefusal.allCases.map { UpdateFault.declined(.prepare, .otaService($0)) }
    let kinds = [ProtocolRefusal.Kind.unsuitable, .rejected, .forbidden, .protocolBroken]
    let refusals = kinds.map { ($0, nil as Remedy?) } + remedies.map { (.rejected, $0) }
    all += refusals.map { kind, remedy in
      .declined(
        .prepare,
        ProtocolRefusal(code: "1", meaning: "no", advice: "Do it.", kind: kind, remedy: remedy))
    }
    all += connects.map { UpdateFault.couldNotConnect($0) }
    all += procedures.map { UpdateFault.gatt(.connect, $0) }
    return all
  }()

  private static let ownUpdates: [UpdateFault] = [
    .wrongHardware(device: HardwareID(1), image: HardwareID(2)),
    .doesNotFit(imageSize: 2, slotSize: 1),
    .downgrade(running: FirmwareVersion(1, 3, 0), image: FirmwareVersion(1, 2, 0)),
    .olderBuild(
      running: MCUbootVersion(2, 1, 3, build: 8), image: MCUbootVersion(2, 1, 3, build: 7)),
    .versionUnknown, .hardwareUnknown, .imageNotTaken(by: [.otaflash]),
    .protocolAmbiguous(UpdateProtocol.all.map { $0.updateProtocol }),
    .protocolNotOffered(asked: .otaflash, offered: []), .authorizationRequired, .wrongKey,
    .noUpdateService, .unsupportedProtocolVersion(deviceLowest: 2, deviceHighest: 3),
    .reverted(running: nil), .oldVersionStillRuns(running: nil),
    .otherVersionRuns(running: FirmwareVersion(1, 3, 0), expected: nil), .nothingStarted,
    .differentImageRuns(running: nil), .unreachableAfterActivation(.supervisionTimeout),
    .stoppedAfterActivation(by: .cancellation, expected: FirmwareVersion(1, 3, 0)),
    .stoppedAfterActivation(by: .timeLimit(.seconds(5)), expected: nil),
    .imageRejected(expectedCRC32: 1, deviceCRC32: 2),
    .blockKeepsFailing(atOffset: 4096, attempts: 4),
    .stalled(atOffset: 4096, waited: .seconds(60)), .noProgress(atOffset: 4096, repeats: 9),
    .linkLost(.supervisionTimeout, .upload, resumable: true, acknowledged: 9),
    .linkLost(.closedByPeer, .connect, resumable: false, acknowledged: 0),
    .protocolViolation(.upload, "x"), .cancelled(resumable: true, acknowledged: 10),
    .timedOut(after: .seconds(5), resumable: true, acknowledged: 7),
    .timedOut(after: .seconds(5), resumable: false, acknowledged: 0),
    .noPatch(.notUnderstood), .noPatch(.refused),
    .bondForgotten(isActivated: true, resumable: false, acknowledged: 9),
    .bondForgotten(isActivated: false, resumable: false, acknowledged: 0),
  ]

  static let remedies: [Remedy] = [
    .tryAgain, .startOver, .wait, .installBluetooth, .grantCapabilities,
    .checkPermissions(path: "/a b"), .chooseAnotherPath, .examineSystem, .report, .plugInAdapter,
    .chooseAnotherAdapter, .turnAdapterOn(adapter: nil), .turnAdapterOn(adapter: "hci1"),
    .turnLowEnergyOn(adapter: nil), .turnLowEnergyOn(adapter: "hci1"), .unblockAdapter, .flipSwitch,
    .restartAdapter, .endOtherScan, .stopOtherServer, .endAConnection, .comeCloser,
    .disconnectElsewhere(device: "C0:FF:EE:00:00:01"), .checkAddress,
    .startDevice(path: "/tmp/a b"), .restartDevice, .inspectDevice, .enterUpdateMode, .pair,
    .pairAgain(device: nil), .pairAgain(device: "C0:FF:EE:00:00:01"), .giveKey, .checkKey,
    .chooseAnotherImage, .allowDowngrade, .sayVersion, .sayHardware, .correctVersion,
    .chooseProtocol(["smp"]), .chooseProtocol([]), .leaveProtocolOpen, .requestSmallerMTU,
    .sendSmallestPackets, .updateSoftware, .listSlots, .confirmRunningImage,
    .restartIntoWaitingImage, .allowWholeImage, .forgetPairing, .sendSmallerRequests,
    .advice("Do it."),
  ]

  static func place(_ remedy: Remedy) -> Int {
    switch remedy {
    case .tryAgain: 0
    case .startOver: 1
    case .wait: 2
    case .installBluetooth: 3
    case .grantCapabilities: 4
    case .checkPermissions: 5
    case .chooseAnotherPath: 6
    case .examineSystem: 7
    case .report: 8
    case .plugInAdapter: 9
    case .chooseAnotherAdapter: 10
    case .turnAdapterOn: 11
    case .turnLowEnergyOn: 12
    case .unblockAdapter: 13
    case .flipSwitch: 14
    case .restartAdapter: 15
    case .endOtherScan: 16
    case .stopOtherServer: 17
    case .endAConnection: 18
    case .comeCloser: 19
    case .disconnectElsewhere: 20
    case .checkAddress: 21
    case .startDevice: 22
    case .restartDevice: 23
    case .inspectDevice: 24
    case .enterUpdateMode: 25
    case .pair: 26
    case .pairAgain: 27
    case .giveKey: 28
    case .checkKey: 29
    case .chooseAnotherImage: 30
    case .allowDowngrade: 31
    case .sayVersion: 32
    case .sayHardware: 33
    case .correctVersion: 34
    case .chooseProtocol: 35
    case .leaveProtocolOpen: 36
    case .requestSmallerMTU: 37
    case .sendSmallestPackets: 38
    case .updateSoftware: 39
    case .listSlots: 40
    case .confirmRunningImage: 41
    case .restartIntoWaitingImage: 42
    case .advice: 43
    case .allowWholeImage: 44
    case .forgetPairing: 45
    case .sendSmallerRequests: 46
    }
  }

  static func place(_ fault: UpdateFault) -> Int {
    switch fault {
    case .wrongHardware: 0
    case .doesNotFit: 1
    case .downgrade: 2
    case .versionUnknown: 3
    case .hardwareUnknown: 4
    case .imageNotTaken: 5
    case .protocolAmbiguous: 6
    case .protocolNotOffered: 7
    case .declined: 8
    case .authorizationRequired: 9
    case .wrongKey: 10
    case .noUpdateService: 11
    case .unsupportedProtocolVersion: 12
    case .reverted: 13
    case .oldVersionStillRuns: 14
    case .differentImageRuns: 15
    case .unreachableAfterActivation: 16
    case .imageRejected: 17
    case .blockKeepsFailing: 18
    case .stalled: 19
    case .noProgress: 20
    case .linkLost: 21
    case .couldNotConnect: 22
    case .protocolViolation: 23
    case .gatt: 24
    case .cancelled: 25
    case .olderBuild: 26
    case .otherVersionRuns: 27
    case .nothingStarted: 28
    case .timedOut: 29
    case .undeliverable: 30
    case .bondForgotten: 31
    case .stoppedAfterActivation: 32
    }
  }

  static let procedures: [GATTFault] = {
    let own: [GATTFault] = [
      .refused(AttributeReference(.first), .insufficientEncryption),
      .refused(AttributeReference(.first), .invalidHandle),
      .violation("x"), .transactionTimedOut, .linkLost(.closedByPeer), .cancelled,
      .timedOut(after: .seconds(1)), .notFound(BluetoothUUID(0x180A)),
      .notPermitted(BluetoothUUID(0x180A), needs: "write"), .queueFull(limit: 3),
      .mtuOutOfRange(9), .valueTooLong(bytes: 600, limit: 512), .unsubscribed,
    ]
    return own
      + securities.map {
        GATTFault.insecure(AttributeReference(.first), .insufficientEncryption, $0)
      }
  }()

  static func place(_ fault: GATTFault) -> Int {
    switch fault {
    case .refused: 0
    case .insecure: 1
    case .violation: 2
    case .transactionTimedOut: 3
    case .linkLost: 4
    case .cancelled: 5
    case .timedOut: 6
    case .notFound: 7
    case .notPermitted: 8
    case .queueFull: 9
    case .mtuOutOfRange: 10
    case .valueTooLong: 11
    case .unsubscribed: 12
    }
  }

  static let securities: [SecurityFault] = [
    .unsupported, .notPaired, .permissionDenied(cause: "A.", remedy: .advice("B.")), .bondForgotten,
    .pairingFailed(reason: "No."),
    .pairingFailed(reason: "No.", remedy: .turnAdapterOn(adapter: "hci1")),
    .insufficient(reached: []), .timedOut(after: .seconds(30)),
    .linkLost(.closedByPeer), .cancelled,
  ]

  static func place(_ fault: SecurityFault) -> Int {
    switch fault {
    case .unsupported: 0
    case .notPaired: 1
    case .permissionDenied: 2
    case .bondForgotten: 3
    case .pairingFailed: 4
    case .insufficient: 5
    case .timedOut: 6
    case .linkLost: 7
    case .cancelled: 8
    }
  }

  static let connects: [ConnectFault] = [
    .adapterUnavailable(cause: "A.", remedy: .advice("B.")),
    .deviceNotFound(cause: "A.", remedy: .advice("B.")),
    .busy(cause: "A.", remedy: .advice("B.")),
    .permissionDenied(cause: "A.", remedy: .advice("B.")),
    .systemCall(name: "bind", errno: EIO, cause: "A.", remedy: .advice("B.")),
    .lostWhileConnecting(.closedByPeer), .cancelled,
  ]

  static func place(_ fault: ConnectFault) -> Int {
    switch fault {
    case .adapterUnavailable: 0
    case .deviceNotFound: 1
    case .busy: 2
    case .permissionDenied: 3
    case .systemCall: 4
    case .lostWhileConnecting: 5
    case .cancelled: 6
    }
  }

  static let surveys: [MgmtFault] = [
    .adapterUnavailable(cause: "A.", remedy: .advice("B.")),
    .permissionDenied(cause: "A.", remedy: .advice("B.")),
    .busy(cause: "A.", remedy: .advice("B.")), .refused(opcode: 1, .busy), .noAnswer(opcode: 1),
    .malformed,
    .socket(.closedByPeer), .systemCall(name: "bind", errno: EIO), .cancelled,
    .unsupported(cause: "A.", remedy: .advice("B.")),
  ]

  static func place(_ fault: MgmtFault) -> Int {
    switch fault {
    case .adapterUnavailable: 0
    case .permissionDenied: 1
    case .busy: 2
    case .refused: 3
    case .noAnswer: 4
    case .malformed: 5
    case .socket: 6
    case .systemCall: 7
    case .cancelled: 8
    case .unsupported: 9
    }
  }

  static let proofs: [ProofFault] = [
    .hashMissing, .hashDiffers(stated: [1], computed: [2]), .unsigned,
    .otherKey(stated: [1], wanted: [2]), .otherAlgorithm(image: "RSA", key: .ed25519),
    .signatureWrong, .encrypted, .uncovered(offset: 1, count: 2), .notSignable,
  ]

  static func place(_ fault: ProofFault) -> Int {
    switch fault {
    case .hashMissing: 0
    case .hashDiffers: 1
    case .unsigned: 2
    case .otherKey: 3
    case .otherAlgorithm: 4
    case .signatureWrong: 5
    case .encrypted: 6
    case .uncovered: 7
    case .notSignable: 8
    }
  }

  static let imageFiles: [ImageFileFault] = [
    .missing(path: "no such.bin"), .isDirectory(path: "/tmp"),
    .unreadable(path: "x", FileErrno(rawValue: EACCES)), .malformed(path: "-x", .empty),
    .sidecar(path: "x.json", .saysNothing), .cancelled(path: "-"),
  ]

  static func place(_ fault: ImageFileFault) -> Int {
    switch fault {
    case .missing: 0
    case .isDirectory: 1
    case .unreadable: 2
    case .malformed: 3
    case .sidecar: 4
    case .cancelled: 5
    }
  }

  static let firmware: [FirmwareFault] =
    [
      .empty, .tooLarge(limit: 5), .foreignFormat(.emptyZip),
      .malformed(.intelHex(.line(7, .endMissing))), .malformed(.uf2(.cutOff(size: 3))),
      .mcuboot(.secondHash(offset: 72)), .telink(.trailerMissing(found: 64)), .oad(.notProcessed),
      .zip(.notAnArchive),
      .suota(.completeFlash(imageOffset: 0x4000)),
      .manifest(.unknownKind), .resources(.listMissing),
      .initPacket(file: "it's.dat", .empty), .inFile("a b.bin", .empty), .severalImages(2),
      .descriptorDamaged(offset: 64), .descriptorLayoutUnknown(9, offset: 64),
      .descriptorsDiffer(firstOffset: 1, secondOffset: 2),
      .versionContradicted(sidecar: FirmwareVersion(1, 0, 0), descriptor: FirmwareVersion(2, 0, 0)),
      .hardwareContradicted(sidecar: HardwareID(1), descriptor: HardwareID(2)),
      .headerContradicted(header: FirmwareVersion(1, 0, 0), descriptor: FirmwareVersion(2, 0, 0)),
      .gbl(.endMissing(offset: 40)), .esp(.completeFlash(partitionTable: 0x8000)),
    ] + addresses.map { .addresses($0) }

  private static let addresses: [AddressFault] = {
    let places = ["0x1000..0x2000", "0x60000000..0x60000010"].compactMap { AddressRegion($0) }
      .map { AddressFault.Place(region: $0, dataCount: 16) }
    return [
      .farApart(places), .nothingElse(places), .nothingIn(places[0].region, places), .noAddresses,
      .spanTooLarge(places[0].region, limit: 5),
    ]
  }()

  static func place(_ fault: FirmwareFault) -> Int {
    switch fault {
    case .empty: 0
    case .tooLarge: 1
    case .foreignFormat: 2
    case .malformed: 3
    case .mcuboot: 4
    case .zip: 5
    case .manifest: 6
    case .initPacket: 7
    case .inFile: 8
    case .severalImages: 9
    case .descriptorDamaged: 10
    case .descriptorLayoutUnknown: 11
    case .descriptorsDiffer: 12
    case .versionContradicted: 13
    case .hardwareContradicted: 14
    case .headerContradicted: 15
    case .addresses: 16
    case .gbl: 17
    case .esp: 18
    case .telink: 19
    case .suota: 20
    case .oad: 21
    case .resources: 22
    }
  }
}
