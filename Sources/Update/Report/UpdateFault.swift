import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Why an update did not end in a proven new image; each case names the party at fault, and
/// has its words and its remedy.
public enum UpdateFault: Error, Equatable, Sendable {
  // Refused before a byte was written.
  case wrongHardware(device: HardwareID, image: HardwareID)
  case doesNotFit(imageSize: Int, slotSize: Int)
  case downgrade(running: FirmwareVersion, image: FirmwareVersion)
  /// The same version in an older build.
  case olderBuild(running: MCUbootVersion, image: MCUbootVersion)
  case versionUnknown
  case hardwareUnknown
  /// The protocols that the device speaks cannot carry this kind of image.
  case imageNotTaken(by: [UpdateProtocol])
  /// Several of the device's protocols can; the user must say which.
  case protocolAmbiguous([UpdateProtocol])
  case protocolNotOffered(asked: UpdateProtocol, offered: [UpdateProtocol])
  // The device said no.
  case refused(UpdateStage, DeviceRefusal)
  case declined(UpdateStage, ProtocolRefusal)
  case authorizationRequired
  case wrongKey
  case noUpdateService
  case unsupportedProtocolVersion(deviceLowest: Int, deviceHighest: Int)
  // After activation.
  case reverted(running: FirmwareVersion?)
  case oldVersionStillRuns(running: FirmwareVersion?)
  case differentImageRuns(running: FirmwareVersion?)
  /// It tells a version that neither ran before, as far as that is known, nor is the image's: the
  /// image under another version, or another one.
  case otherVersionRuns(running: FirmwareVersion, expected: FirmwareVersion?)
  /// It is in its boot loader.
  case nothingStarted
  case unreachableAfterActivation(LinkLoss)
  // The transfer.
  case imageRejected(expectedCRC32: UInt32, deviceCRC32: UInt32)
  case blockKeepsFailing(atOffset: Int, attempts: Int)
  case stalled(atOffset: Int, waited: Duration)
  case noProgress(atOffset: Int, repeats: Int)
  // The link.
  case linkLost(LinkLoss, UpdateStage, resumable: Bool, acknowledged: Int)
  case couldNotConnect(ConnectFault)
  // The peer broke the protocol.
  case protocolViolation(UpdateStage, String)
  case gatt(UpdateStage, GATTFault)
  // Our own side.
  case cancelled(resumable: Bool, acknowledged: Int)
  /// The caller's time limit ran out (`Command.timeLimit`); the device was told, as when cancelled.
  case timedOut(after: Duration, resumable: Bool, acknowledged: Int)
}

extension UpdateFault: TimeLimitedFault {
  public func ended(by limit: Duration) -> UpdateFault {
    guard case .cancelled(let resumable, let acknowledged) = self else { return self }
    return .timedOut(after: limit, resumable: resumable, acknowledged: acknowledged)
  }
}

extension UpdateFault {
  /// The device has judged what it received, or keeps nothing of it: no later update goes on there.
  public var endsTransfer: Bool {
    switch self {
    case .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .imageRejected, .blockKeepsFailing:
      true
    case .declined(let stage, let refusal):
      refusal.kind == .rejected || stage == .verify || stage == .activate
    case .refused(let stage, _): stage == .verify || stage == .activate
    case .linkLost(_, _, let resumable, let acknowledged): !resumable && acknowledged > 0
    case .cancelled(let resumable, let acknowledged),
      .timedOut(_, let resumable, let acknowledged):
      !resumable && acknowledged > 0
    case .wrongHardware, .doesNotFit, .downgrade, .versionUnknown, .hardwareUnknown,
      .olderBuild, .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .authorizationRequired,
      .wrongKey,
      .noUpdateService, .unsupportedProtocolVersion, .unreachableAfterActivation, .stalled,
      .noProgress, .couldNotConnect, .protocolViolation, .gatt:
      false
    }
  }
}

/// A device's refusal of a control operation (docs/ota-service.md, 4.1).
public enum DeviceRefusal: UInt8, Error, Equatable, Sendable, CaseIterable {
  case unknownOpcode = 1
  case malformedRequest = 2
  case wrongState = 3
  case notAuthorized = 4
  case wrongHardware = 5
  case doesNotFit = 6
  case downgrade = 7
  case checksumMismatch = 8
  case flashFault = 9
  case versionNotSupported = 0x0A
  case wrongProof = 0x0B
  case locked = 0x0C
  case refusedByApplication = 0x0D
  case nothingToConfirm = 0x0E
}
