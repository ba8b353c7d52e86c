import OtaflashATT
import OtaflashFirmware
import OtaflashGATT
import OtaflashNumerals

/// Each kind of text has its own exhaustive switch, so that a new case without a text does not
/// compile. docs/ota-service.md defines the errors of the OTA service.
extension UpdateFault: ExplainedFault {
  public var summary: String {
    switch self {
    case .wrongHardware(let device, let image):
      "the image is for hardware \(image), but the device is \(device)"
    case .doesNotFit(let size, let slot):
      "the image has \(Numerals.grouped(size)) B, but the slot only \(Numerals.grouped(slot)) B"
    case .downgrade(let running, let image):
      "the device runs \(running), but the image is the older \(image)"
    case .olderBuild(let running, let image):
      "the device runs \(running), but the image is the older \(image)"
    case .versionUnknown: "the image has no version"
    case .hardwareUnknown: "the image does not state its hardware"
    case .imageNotTaken(let offered):
      "the device accepts \(Self.list(offered)), which does not support this image"
    case .protocolAmbiguous(let choice): "the device accepts this image over \(Self.list(choice))"
    case .protocolNotOffered(let asked, let offered):
      "the device does not support \(asked); it supports \(Self.list(offered))"
    case .undeliverable(let obstacle): obstacle.reason.summary
    case .authorizationRequired: "the device requires its key for updates"
    case .wrongKey: "the device rejected the key"
    case .noUpdateService: "the device has no known update service"
    case .unsupportedProtocolVersion(let lowest, let highest):
      "the device supports protocol versions \(lowest) to \(highest) only"
    case .reverted(let running, let build):
      "the device runs \(Self.name(running, build: build)) again, not the image that was sent"
    case .oldVersionStillRuns(let running):
      "the device restarted and still runs \(Self.name(running))"
    case .differentImageRuns(let running):
      "the device runs \(Self.name(running)), which is not the image that was sent"
    case .otherVersionRuns(let running, let expected):
      "the device runs \(running), but the image has "
        + (expected.map { "version \($0)" } ?? "no version")
    case .nothingStarted: "the device is in its bootloader, and did not start the application"
    case .unreachableAfterActivation: "the device was not found after the restart"
    case .stoppedAfterActivation(.cancellation, _):
      "the update was stopped after the restart was requested"
    case .stoppedAfterActivation(.timeLimit(let limit), _):
      "the time limit of \(Numerals.seconds(limit)) expired after the restart was requested"
    case .imageRejected: "the device's flash does not contain the image that was sent"
    case .blockKeepsFailing(let offset, let attempts):
      "the block at \(Numerals.grouped(offset)) is still wrong after "
        + (attempts == 1 ? "1 attempt" : "\(attempts) attempts")
    case .stalled(let offset, _, _):
      "the device accepted no data from byte \(Numerals.grouped(offset)) on"
    case .noProgress(let offset, let repeats):
      "the device requested byte \(Numerals.grouped(offset)) \(repeats) times"
    case .linkLost(_, let stage, _, _): "the link was lost during \(stage.rawValue)"
    case .cancelled: "the update was stopped"
    case .timedOut(let limit, _, _): "the time limit of \(Numerals.seconds(limit)) expired"
    case .declined(let stage, let refusal):
      "the device refused during \(stage.rawValue): \(refusal.meaning)"
        + (refusal.code.map { " (\($0))" } ?? "")
    case .couldNotConnect(let fault): fault.summary
    case .bondForgotten: SecurityFault.bondForgotten.summary
    case .protocolViolation(let stage, _):
      "the device violated the update protocol during \(stage.rawValue)"
    case .gatt(let stage, let fault): fault.summary(during: stage.rawValue)
    }
  }

  public var explanation: String {
    switch self {
    case .wrongHardware:
      "An image for another board can leave the device unusable; nothing was written."
    case .doesNotFit: "The device has no room for it; nothing was written."
    case .downgrade: "Older firmware may not read newer settings, and may have known defects."
    case .olderBuild:
      "The version is the same, but the build is older; older builds may have known defects."
    case .versionUnknown:
      "The image has no descriptor and no sidecar file; without a version, a downgrade cannot be "
        + "detected."
    case .hardwareUnknown:
      "The image has no descriptor and no sidecar file; otaflash cannot detect whether it is for "
        + "another board."
    case .imageNotTaken(let offered):
      "Nothing was written. "
        + offered.map { "\($0) accepts \($0.images)." }.joined(separator: " ")
    case .protocolAmbiguous: "These protocols write to different places; choose one."
    case .protocolNotOffered: "Nothing was written."
    case .undeliverable(let obstacle): obstacle.reason.explanation
    case .authorizationRequired: "A key has 16 to 64 bytes; nothing was written."
    case .wrongKey: "After 5 wrong proofs the device refuses every key until a restart."
    case .noUpdateService:
      "It is the wrong device, or its firmware must first enter update mode."
    case .unsupportedProtocolVersion:
      "This version of otaflash supports protocol version 1; a newer otaflash is needed."
    case .reverted: "Its bootloader did not start the image, or started it and then reverted it."
    case .oldVersionStillRuns, .nothingStarted: "It accepted the image and did not start it."
    case .differentImageRuns:
      "Its size, CRC32 or hash differs; another host may have updated the device in the meantime."
    case .otherVersionRuns(let running, _):
      "\(running) did not run before the update; it may be this image under another version, "
        + "or another image."
    case .unreachableAfterActivation(let loss):
      "\(loss.sentence) The complete image was sent and activated; whether it runs is not known. "
        + "If it runs on trial, the same command confirms it, unless the device has restarted "
        + "again."
    case .stoppedAfterActivation(_, let expected):
      "The device received the complete image and was asked to restart into "
        + (expected.map { "\($0)" } ?? "it")
        + ". Whether the image runs was not verified. If it runs on "
        + "trial, the same command confirms it, unless the device has restarted again."
    case .imageRejected(let expected, let found):
      "CRC32 \(Numerals.hex(expected)) was sent, but \(Numerals.hex(found)) was read back."
    case .blockKeepsFailing:
      "The device's memory or its receiver is faulty; the link detects transmission errors itself."
    case .stalled(_, let waited, let requestSize):
      "The device made no progress in \(Numerals.seconds(waited))."
        + (requestSize.map {
          " Requests of \($0) bytes were not answered; shorter requests may help."
        } ?? "")
    case .noProgress: "The host sent the byte each time; the device's receiver is faulty."
    case .linkLost(let loss, _, let resumable, let acknowledged):
      loss.sentence + " " + Self.kept(resumable, acknowledged)
    case .cancelled(let resumable, let acknowledged),
      .timedOut(_, let resumable, let acknowledged):
      Self.kept(resumable, acknowledged)
    case .declined(_, let refusal): refusal.advice
    case .couldNotConnect(let fault): fault.explanation
    case .bondForgotten(let isActivated, let resumable, let acknowledged):
      SecurityFault.bondForgotten.explanation + " "
        + (isActivated
          ? "The complete image was sent and activated. If it runs on trial, the next restart of "
            + "the device restores the old version, unless the same command confirms it first."
          : Self.kept(resumable, acknowledged))
    case .protocolViolation(_, let detail): "This violates the protocol: \(detail)."
    case .gatt(_, let fault): fault.explanationOfUpdate
    }
  }

  public var remedy: Remedy? {
    switch self {
    case .wrongHardware, .doesNotFit, .imageNotTaken: .chooseAnotherImage
    case .downgrade, .olderBuild: .allowDowngrade
    case .versionUnknown: .sayVersion
    case .hardwareUnknown: .sayHardware
    case .protocolAmbiguous(let choice): .chooseProtocol(choice.map(\.name))
    case .protocolNotOffered: .leaveProtocolOpen
    case .undeliverable(let obstacle): obstacle.reason.remedy
    case .authorizationRequired: .giveKey
    case .wrongKey: .checkKey
    case .noUpdateService: .enterUpdateMode
    case .unsupportedProtocolVersion: .updateSoftware
    case .otherVersionRuns: .correctVersion
    case .reverted, .oldVersionStillRuns, .differentImageRuns, .nothingStarted,
      .protocolViolation:
      .inspectDevice
    case .stalled(_, _, _?): .sendSmallerRequests
    case .imageRejected, .stalled, .linkLost, .cancelled, .timedOut,
      .unreachableAfterActivation, .stoppedAfterActivation:
      .tryAgain
    case .blockKeepsFailing, .noProgress: .startOver
    case .declined(_, let refusal): refusal.remedy
    case .couldNotConnect(let fault): fault.remedy
    case .bondForgotten: .forgetPairing
    case .gatt(_, let fault): fault.remedy
    }
  }

  /// Returns a sentence about the state that an interrupted transfer leaves.
  private static func kept(_ resumable: Bool, _ acknowledged: Int) -> String {
    guard resumable else {
      return
        "The device keeps no part of the image; the next attempt starts over. A device with one "
        + "slot has no application until the upload is complete."
    }
    let bytes = acknowledged == 0 ? "a part of a page" : "\(Numerals.grouped(acknowledged)) B"
    return "The device keeps \(bytes); the next attempt resumes there."
  }

  private static func list(_ protocols: [UpdateProtocol]) -> String {
    protocols.map(\.name).joined(separator: ", ")
  }

  private static func name(_ version: FirmwareVersion?, build: UInt32? = nil) -> String {
    let number = build.map { "+\($0)" } ?? ""
    return version.map { "\($0)\(number)" } ?? "the old version"
  }
}

extension GATTFault {
  /// The OTA service has its own error codes (docs/ota-service.md, 3).
  fileprivate var explanationOfUpdate: String {
    guard case .refused(_, let code) = self, let meaning = code.meaningOfOTAService else {
      return explanation
    }
    return "ATT error 0x\(Numerals.hex(code.rawValue)): \(meaning)."
  }
}

extension ATTErrorCode {
  fileprivate var meaningOfOTAService: String? {
    switch self {
    case ATTErrorCode(0x80): "the update service is busy"
    case ATTErrorCode(0x81): "data did not start at the next offset"
    case ATTErrorCode(0x82): "no update session is open"
    case ATTErrorCode(0x83): "the connection is not authorized"
    default: nil
    }
  }
}
