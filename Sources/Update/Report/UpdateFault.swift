import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Why an update did not end in a proven new image; each case names the party at fault, and
/// has its words and its remedy.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateFault: Error, Equatable, Sendable {
  // Refused before a byte was written.
  /// The image is for another board than the device's.
  case wrongHardware(device: HardwareID, image: HardwareID)
  /// The image has more bytes than the slot.
  case doesNotFit(imageSize: Int, slotSize: Int)
  /// The image is older than what runs, and nobody allowed that.
  case downgrade(running: FirmwareVersion, image: FirmwareVersion)
  /// The same version in an older build.
  case olderBuild(running: MCUbootVersion, image: MCUbootVersion)
  /// Nothing tells the image's version, which the device wants to know.
  case versionUnknown
  /// Nothing tells which board the image is for, which the device wants to know.
  case hardwareUnknown
  /// The protocols that the device speaks cannot carry this kind of image.
  case imageNotTaken(by: [UpdateProtocol])
  /// Several of the device's protocols can; the user must say which.
  case protocolAmbiguous([UpdateProtocol])
  /// The protocol that was asked for is none of those that the device speaks.
  case protocolNotOffered(asked: UpdateProtocol, offered: [UpdateProtocol])
  /// A patch was required, and none can be sent, or the device made no image of it.
  case noPatch(PatchObstacle)
  // The device said no.
  /// A device refused an operation of this stage, in the words of its protocol.
  case declined(UpdateStage, ProtocolRefusal)
  /// The device has a key, and none was given.
  case authorizationRequired
  /// The device did not take the proof of the key that was given.
  case wrongKey
  /// The device offers none of the update services that are known here.
  case noUpdateService
  /// The device speaks these versions of the OTA service, and none that is spoken here.
  case unsupportedProtocolVersion(deviceLowest: Int, deviceHighest: Int)
  // After activation.
  /// The device says that its bootloader rejected the image, and runs what it ran before.
  case reverted(running: FirmwareVersion?, build: UInt32? = nil)
  /// The device came back with what ran before, and says nothing of the new image.
  case oldVersionStillRuns(running: FirmwareVersion?)
  /// The device came back with an image that is neither the new one nor what ran before.
  case differentImageRuns(running: FirmwareVersion?)
  /// It tells a version that neither ran before, as far as that is known, nor is the image's: the
  /// image under another version, or another one.
  case otherVersionRuns(running: FirmwareVersion, expected: FirmwareVersion?)
  /// It is in its bootloader.
  case nothingStarted
  /// The device took the image, restarted, and could not be connected to again.
  case unreachableAfterActivation(LinkLoss)
  /// The update was stopped after the device was asked to restart into the image. Whether the image
  /// runs is not known. Run the update again: it starts by asking the device.
  case stoppedAfterActivation(by: UpdateInterruption, expected: FirmwareVersion?)
  // The transfer.
  /// The device has all bytes, and their CRC32 is not the image's.
  case imageRejected(expectedCRC32: UInt32, deviceCRC32: UInt32)
  /// The same block arrived damaged, so many times in a row.
  case blockKeepsFailing(atOffset: Int, attempts: Int)
  /// The device said nothing for so long that would have let the transfer go on.
  ///
  /// `requestSize` is the length in bytes of requests that stayed unanswered, where a shorter one
  /// can be sent; `nil` otherwise.
  case stalled(atOffset: Int, waited: Duration, requestSize: Int? = nil)
  /// The device told the same offset again and again.
  case noProgress(atOffset: Int, repeats: Int)
  // The link.
  /// The link was lost, and could not be made again; `acknowledged` counts bytes of the image.
  case linkLost(LinkLoss, UpdateStage, resumable: Bool, acknowledged: Int)
  /// The device could not be connected to.
  case couldNotConnect(ConnectFault)
  /// The device no longer has the keys of its pairing with this host. `isActivated`: it has the
  /// complete image, and was told to start it; `acknowledged` counts bytes of the image.
  case bondForgotten(isActivated: Bool, resumable: Bool, acknowledged: Int)
  // The peer broke the protocol.
  /// The device did in this stage what its protocol forbids; the text is a clause.
  case protocolViolation(UpdateStage, String)
  /// A procedure of the attribute protocol failed in this stage.
  case gatt(UpdateStage, GATTFault)
  // Our own side.
  /// The task was cancelled, and the device told; `acknowledged` counts bytes of the image.
  case cancelled(resumable: Bool, acknowledged: Int)
  /// The caller's time limit ran out (`Command.timeLimit`); the device was told, as when cancelled.
  case timedOut(after: Duration, resumable: Bool, acknowledged: Int)
}

/// The reason why an update was stopped before its end.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateInterruption: Equatable, Sendable {
  /// The task was cancelled.
  case cancellation
  /// The caller's time limit ran out (`Command.timeLimit`).
  case timeLimit(Duration)
}

extension UpdateFault: TimeLimitedFault {
  public func ended(by limit: Duration) -> UpdateFault {
    switch self {
    case .cancelled(let resumable, let acknowledged):
      .timedOut(after: limit, resumable: resumable, acknowledged: acknowledged)
    case .stoppedAfterActivation(.cancellation, let expected):
      .stoppedAfterActivation(by: .timeLimit(limit), expected: expected)
    default: self
    }
  }
}

extension UpdateFault {
  /// The device has judged what it received, or keeps nothing of it: no later update goes on there.
  public var endsTransfer: Bool {
    switch self {
    case .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .imageRejected, .blockKeepsFailing:
      true
    case .noPatch(let obstacle): obstacle.isVerdictOfDevice
    case .declined(let stage, let refusal):
      refusal.kind == .rejected || stage == .verify || stage == .activate
    case .bondForgotten(let isActivated, let resumable, let acknowledged):
      !isActivated && !resumable && acknowledged > 0
    case .linkLost(_, _, let resumable, let acknowledged): !resumable && acknowledged > 0
    case .cancelled(let resumable, let acknowledged),
      .timedOut(_, let resumable, let acknowledged):
      !resumable && acknowledged > 0
    case .wrongHardware, .doesNotFit, .downgrade, .versionUnknown, .hardwareUnknown,
      .olderBuild, .imageNotTaken, .protocolAmbiguous, .protocolNotOffered, .authorizationRequired,
      .wrongKey,
      .noUpdateService, .unsupportedProtocolVersion, .unreachableAfterActivation, .stalled,
      .stoppedAfterActivation, .noProgress, .couldNotConnect, .protocolViolation, .gatt:
      false
    }
  }
}
