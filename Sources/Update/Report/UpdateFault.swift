import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The reason why an update did not end in a verified new image. Each case has a responsible party,
/// a message and a remedy.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateFault: Error, Equatable, Sendable {
  // Refused before a byte was written, except for some reasons of `undeliverable`.
  /// The image is for a board other than the device's board.
  case wrongHardware(device: HardwareID, image: HardwareID)
  /// The image has more bytes than the slot.
  case doesNotFit(imageSize: Int, slotSize: Int)
  /// The image is older than the running image, and a downgrade was not allowed.
  case downgrade(running: FirmwareVersion, image: FirmwareVersion)
  /// The image has the running version, but an older build number.
  case olderBuild(running: MCUbootVersion, image: MCUbootVersion)
  /// The image states no version, and `UpdateOptions.allowsUnknown` is `false`.
  case versionUnknown
  /// The image states no hardware id, and `UpdateOptions.allowsUnknown` is `false`.
  case hardwareUnknown
  /// The protocols of the device do not support this kind of image.
  case imageNotTaken(by: [UpdateProtocol])
  /// Several of the device's protocols support the image; the user must choose.
  case protocolAmbiguous([UpdateProtocol])
  /// The device does not support the requested protocol.
  case protocolNotOffered(asked: UpdateProtocol, offered: [UpdateProtocol])
  /// A delivery method was required, but it cannot be used, or the device did not create the image
  /// from the content.
  case undeliverable(DeliveryObstacle)
  // The device refused.
  /// The device refused an operation of this stage; the refusal uses the terms of the protocol.
  case declined(UpdateStage, ProtocolRefusal)
  /// The device requires a key, but the caller did not specify a key.
  case authorizationRequired
  /// The device rejected the proof of the given key.
  case wrongKey
  /// The device offers no known update service.
  case noUpdateService
  /// The device supports these versions of the OTA service, and the host supports none of them.
  case unsupportedProtocolVersion(deviceLowest: Int, deviceHighest: Int)
  // After activation.
  /// The device reports that its bootloader rejected the image, and runs the previous image.
  case reverted(running: FirmwareVersion?, build: UInt32? = nil)
  /// After the restart, the device runs the previous image, and reports nothing about the new
  /// image.
  case oldVersionStillRuns(running: FirmwareVersion?)
  /// After the restart, the device runs an image that has the version of the new image, but is a
  /// different image.
  case differentImageRuns(running: FirmwareVersion?)
  /// The device reports a version that is neither the version of the image nor, as far as known,
  /// the previous version. The device may run the image under another version, or another image.
  case otherVersionRuns(running: FirmwareVersion, expected: FirmwareVersion?)
  /// The device is in its bootloader, which started no application.
  case nothingStarted
  /// The device accepted the image and restarted, and the host could not reconnect to it.
  case unreachableAfterActivation(LinkLoss)
  /// The update was stopped after the device was requested to restart into the image, so it is
  /// unknown whether the image runs. Run the update again: it first reads the running image.
  case stoppedAfterActivation(by: UpdateInterruption, expected: FirmwareVersion?)
  // The transfer.
  /// The CRC32 of the bytes that the device holds differs from the CRC32 of the image or, if the
  /// device has not received all bytes, from the CRC32 of the image's first bytes.
  case imageRejected(expectedCRC32: UInt32, deviceCRC32: UInt32)
  /// The same block arrived damaged in this number of consecutive attempts.
  case blockKeepsFailing(atOffset: Int, attempts: Int)
  /// The transfer made no progress for this time.
  ///
  /// `requestSize` is the length in bytes of requests without a response, if shorter requests are
  /// possible; `nil` otherwise.
  case stalled(atOffset: Int, waited: Duration, requestSize: Int? = nil)
  /// The device reported the same offset repeatedly.
  case noProgress(atOffset: Int, repeats: Int)
  // The link.
  /// The link was lost and could not be established again. `acknowledged` counts bytes of the
  /// image.
  case linkLost(LinkLoss, UpdateStage, resumable: Bool, acknowledged: Int)
  /// The host could not connect to the device.
  case couldNotConnect(ConnectFault)
  /// The device no longer has the keys of its pairing with this host. `isActivated` is true if the
  /// device has the complete image and was requested to start it. `acknowledged` counts bytes of
  /// the image.
  case bondForgotten(isActivated: Bool, resumable: Bool, acknowledged: Int)
  // The peer violated the protocol.
  /// The device violated its protocol in this stage; the text is a clause.
  case protocolViolation(UpdateStage, String)
  /// A procedure of the attribute protocol failed in this stage.
  case gatt(UpdateStage, GATTFault)
  // The host.
  /// The task was cancelled. The host notified the device if the device was connected and its
  /// protocol has such a notification. `acknowledged` counts bytes of the image.
  case cancelled(resumable: Bool, acknowledged: Int)
  /// The caller's time limit expired (`Command.timeLimit`). The device was notified as for
  /// `cancelled`. `acknowledged` counts bytes of the image.
  case timedOut(after: Duration, resumable: Bool, acknowledged: Int)
}

/// The reason why an update was stopped before its end.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum UpdateInterruption: Equatable, Sendable {
  /// The task was cancelled.
  case cancellation
  /// The caller's time limit expired (`Command.timeLimit`).
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
  /// Whether a later update cannot resume the transfer, because the device rejected the received
  /// bytes or does not keep them.
  public var endsTransfer: Bool {
    switch self {
    case .reverted, .oldVersionStillRuns, .differentImageRuns, .otherVersionRuns, .nothingStarted,
      .imageRejected, .blockKeepsFailing:
      true
    case .undeliverable(let obstacle): obstacle.isVerdictOfDevice
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
