import OtaflashFirmware
import OtaflashGATT
import OtaflashUpdate

extension FaultReport {
  /// Every way an update can fail, in words (docs/ota-service.md names the rules behind them). One
  /// switch, however long: a new case must not compile until somebody has found the words for it.
  init(_ fault: UpdateFault, in context: FaultContext) {
    self =
      switch fault {
      case .wrongHardware(let device, let image):
        FaultReport(
          .wrongHardware, "the image is for hardware \(image), the device is \(device)",
          why: "An image for another board can leave the device unusable; nothing was written.",
          help: context.inspectImage, exit: .refusedBeforeWriting)
      case .doesNotFit(let size, let slot):
        FaultReport(
          .doesNotFit, "the image has \(Text.grouped(size)) B, the slot \(Text.grouped(slot)) B",
          why: "The device has no room for it; nothing was written.",
          help: context.inspectImage, exit: .refusedBeforeWriting)
      case .downgrade(let running, let image):
        FaultReport(
          .downgrade, "the device runs \(running), the image is the older \(image)",
          why: "Older firmware may not read newer settings, and may have known holes.",
          help: context.again(with: "--allow-downgrade"), exit: .refusedBeforeWriting)
      case .olderBuild(let running, let image):
        FaultReport(
          .downgrade, "the device runs \(running), the image is the older \(image)",
          why: "The version is the same, the build is not; older builds may have known holes.",
          help: context.again(with: "--allow-downgrade"), exit: .refusedBeforeWriting)
      case .versionUnknown:
        FaultReport(
          .versionUnknown, "nobody says which version the image is",
          why: "It has no descriptor and no sidecar file; without a version a downgrade cannot be "
            + "seen. --image-version says it, --allow-unknown goes without.",
          help: context.againSaying(version: true, hardware: false), exit: .refusedBeforeWriting)
      case .hardwareUnknown:
        FaultReport(
          .hardwareUnknown, "nobody says which hardware the image is for",
          why: "It has no descriptor and no sidecar file; without it an image for another board "
            + "cannot be told apart. --hardware says it, --allow-unknown goes without.",
          help: context.againSaying(version: false, hardware: true), exit: .refusedBeforeWriting)
      case .imageNotTaken(let offered):
        FaultReport(
          .imageNotTaken,
          "the device takes updates by \(Self.list(offered)), which cannot carry this image",
          why: "Nothing was written. " + Self.wanted(by: offered),
          help: context.inspectImage, exit: .refusedBeforeWriting)
      case .protocolAmbiguous(let choice):
        FaultReport(
          .protocolAmbiguous, "the device takes this image by \(Self.list(choice))",
          why: "They write to different places; nothing is chosen for you.",
          help: context.again(with: "--protocol", choice.first?.rawValue ?? "auto"),
          exit: .deviceUnavailable)
      case .protocolNotOffered(let asked, let offered):
        FaultReport(
          .noUpdateService,
          "the device does not speak \(asked.rawValue); it speaks \(Self.list(offered))",
          why: "'flash --protocol auto' takes what the device offers.",
          help: context.inspectDevice, exit: .refusedBeforeWriting)
      case .authorizationRequired:
        FaultReport(
          .authorizationRequired, "the device takes updates only from those who hold its key",
          why:
            "Put the key (16 to 64 bytes, or their hex digits) in a file that only you can read.",
          help: context.again(with: "--key-file", "ota.key"), exit: .permissionDenied)
      case .wrongKey:
        FaultReport(
          .wrongKey, "the device says that the key is wrong",
          why: "After 5 wrong proofs it refuses every key until it is restarted.",
          help: context.inspectDevice, exit: .permissionDenied)
      case .noUpdateService:
        FaultReport(
          .noUpdateService, "the device has no update service that otaflash knows",
          why: "It is the wrong device, or its firmware must first be put into update mode.",
          help: context.inspectDevice, exit: .refusedBeforeWriting)
      case .unsupportedProtocolVersion(let lowest, let highest):
        FaultReport(
          .protocolVersion, "the device speaks protocol versions \(lowest) to \(highest) only",
          why: "This otaflash speaks version 1; a newer one is needed.",
          help: context.command(["--version"]), exit: .protocolBroken)
      case .reverted(let running):
        FaultReport(
          .reverted, "the device runs \(Self.name(running)) again, not the image that was sent",
          why: "Its boot loader did not start the image, or started it and went back.",
          help: context.inspectDevice, exit: .rejectedByDevice)
      case .oldVersionStillRuns(let running):
        FaultReport(
          .oldVersionRuns, "the device restarted and still runs \(Self.name(running))",
          why: "It took the image and did not start it.",
          help: context.inspectDevice, exit: .rejectedByDevice)
      case .differentImageRuns(let running):
        FaultReport(
          .differentImageRuns,
          "the device runs \(Self.name(running)), which is not the image that was sent",
          why: "Its size or CRC32 differs; another host may have updated it meanwhile.",
          help: context.inspectDevice, exit: .rejectedByDevice)
      case .otherVersionRuns(let running, let expected):
        FaultReport(
          .differentImageRuns,
          "the device runs \(running), the image was said to be "
            + (expected?.description ?? "of no version"),
          why: "\(running) was not seen before the update, so this may be the image under another "
            + "version, or another image. Give as --image-version what the application tells.",
          help: context.inspectDevice, exit: .rejectedByDevice)
      case .nothingStarted:
        FaultReport(
          .oldVersionRuns, "the device is in its boot loader, and has started no application",
          why: "It took the image and did not start it.",
          help: context.inspectDevice, exit: .rejectedByDevice)
      case .unreachableAfterActivation(let loss):
        FaultReport(
          .unreachableAfterActivation, "the device did not come back after the restart",
          why:
            "\(loss.sentence) The whole image was sent and checked; whether it runs is not known.",
          help: context.inspectDevice, exit: .linkLostResumable, retryable: true)
      case .imageRejected(let expected, let found):
        FaultReport(
          .imageRejected, "the device's flash does not hold the image that was sent",
          why: "CRC32 \(Text.hex(expected)) was sent, \(Text.hex(found)) was read back.",
          help: context.again, exit: .rejectedByDevice, retryable: true)
      case .blockKeepsFailing(let offset, let attempts):
        FaultReport(
          .blockKeepsFailing,
          "the block at \(Text.grouped(offset)) is still wrong after "
            + (attempts == 1 ? "1 attempt" : "\(attempts) attempts"),
          why: "The device's memory or its receiver is at fault; the link has its own checksum.",
          help: context.again(with: "--restart"), exit: .rejectedByDevice)
      case .stalled(let offset, let waited):
        FaultReport(
          .stalled, "the device took nothing more from byte \(Text.grouped(offset)) on",
          why: "In \(Text.seconds(waited)) it got no further than before. What it holds is kept.",
          help: context.again, exit: .linkLostResumable, retryable: true)
      case .noProgress(let offset, let repeats):
        FaultReport(
          .noProgress, "the device asked \(repeats) times for byte \(Text.grouped(offset))",
          why: "Each time it was sent, and it did not go on: its receiver is at fault.",
          help: context.again(with: "--restart"), exit: .protocolBroken)
      case .linkLost(let loss, let stage, let resumable, let acknowledged):
        FaultReport(
          .linkLost, "the link was lost during \(stage.rawValue)",
          why: loss.sentence + " " + Self.kept(resumable, acknowledged), help: context.again,
          exit: resumable ? .linkLostResumable : .linkLost, retryable: true)
      case .cancelled(let resumable, let acknowledged):
        FaultReport(
          .interrupted, "the update was stopped", why: Self.kept(resumable, acknowledged),
          help: context.again, exit: resumable ? .linkLostResumable : .linkLost, retryable: true)
      case .refused(let stage, let refusal):
        FaultReport(refusal, during: stage, in: context)
      case .declined(let stage, let refusal):
        FaultReport(
          refusal.kind.code,
          "the device refused during \(stage.rawValue): \(refusal.meaning) (\(refusal.code))",
          why: refusal.remedy,
          help: refusal.startsOver ? context.again(with: "--restart") : context.inspectSubject,
          exit: refusal.kind.exit)
      case .couldNotConnect(let fault):
        FaultReport(fault, in: context)
      case .protocolViolation(let stage, let detail):
        FaultReport(
          .protocolViolation, "the device broke the update protocol during \(stage.rawValue)",
          why: detail, help: context.inspectDevice, exit: .protocolBroken)
      case .gatt(let stage, let fault):
        FaultReport(fault, during: stage, in: context)
      }
  }

  /// What a broken transfer leaves behind.
  static func kept(_ resumable: Bool, _ acknowledged: Int) -> String {
    resumable
      ? "The device keeps \(Text.grouped(acknowledged)) B; the same command goes on from there."
      : "The device holds no part of the image; the same command starts over."
  }

  /// What each of the protocols carries, a sentence each.
  private static func wanted(by protocols: [UpdateProtocol]) -> String {
    protocols.map { "By \($0.rawValue) goes \($0.imageWords)." }.joined(separator: " ")
  }

  private static func list(_ protocols: [UpdateProtocol]) -> String {
    protocols.map(\.rawValue).joined(separator: ", ")
  }

  private static func name(_ version: FirmwareVersion?) -> String {
    version?.description ?? "the old version"
  }
}

extension ProtocolRefusal.Kind {
  fileprivate var code: FaultCode {
    switch self {
    case .unsuitable, .protocolBroken: .deviceRefused
    case .rejected: .imageRejected
    case .forbidden: .authorizationRequired
    }
  }

  fileprivate var exit: ExitStatus {
    switch self {
    case .unsuitable: .refusedBeforeWriting
    case .rejected: .rejectedByDevice
    case .forbidden: .permissionDenied
    case .protocolBroken: .protocolBroken
    }
  }
}
