import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// TI's OAD service on one connection (README.md in this folder describes the sequence).
struct OADSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.tiOAD
  static let services = [OADOTA.service]

  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await OADAttributes.find(on: client) != nil
  }

  static func takes(_ image: FirmwareImage) -> Bool { OADPayload(image) != nil }

  let context: UpdateContext
  private let retained: RetainedState<OADRetained>
  private let identity: ApplicationIdentity
  /// The version that the device reports; `nil` if the device does not report a version.
  private let reported: OADReportedVersion?
  /// `nil` if the running application has no OAD service.
  private let transfer: OADTransfer?

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<OADRetained>
  ) async throws(UpdateFault) -> OADSession {
    let identity: ApplicationIdentity
    let channel: OADChannel?
    do throws(GATTFault) {
      identity = try await ApplicationIdentity.read(from: client)
      if let attributes = try await OADAttributes.find(on: client) {
        channel = try await OADChannel.open(attributes, on: client, clock: context.clock)
      } else {
        channel = nil
      }
    } catch {
      throw .gatt(.connect, error)
    }
    let reported = try await channel?.reportedVersion()
    if !context.hasActivated {
      retained.update { state in
        state.before.met(identity, isActivated: false)
        state.versionBefore = state.versionBefore ?? reported
      }
    }
    return OADSession(
      context: context, retained: retained, identity: identity, reported: reported,
      transfer: channel.map { OADTransfer(context: context, retained: retained, channel: $0) })
  }

  var device: DeviceReport {
    let generation = reported?.generation ?? .bim
    var report = DeviceReport(Self.updateProtocol, protocolVersion: generation.rawValue)
    report.runningVersion = reported?.version ?? identity.version
    return report
  }

  // MARK: Before the image

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    let options = context.options
    guard let payload = OADPayload(image) else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    if let reported {
      guard reported.generation == payload.generation else {
        throw .declined(.prepare, .oadWrongFormat(reported.generation))
      }
      if payload.hasOwnVersion, payload.matches(reported), !options.sendsAnyway {
        return .alreadyCurrent
      }
    }
    if let running = device.runningVersion, let version = image.version, version < running,
      !options.allowsDowngrade
    {
      throw .downgrade(running: running, image: version)
    }
    return .send(
      UpdatePlan(
        image: image, version: image.version ?? .unknown,
        allowsDowngrade: options.allowsDowngrade))
  }

  // MARK: The image

  var keepsProgress: Bool { false }

  /// Prepares a transfer, which always starts at 0: the device discards an interrupted transfer.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload {
    guard let transfer else { throw .noUpdateService }
    guard let payload = OADPayload(plan.image) else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    let size = try await transfer.prepare(payload, .prepare)
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await transfer.upload(plan.image.bytes, payload, blockSize: size)
    }
  }

  /// The answer to the last block was the verdict.
  func verify(_ image: FirmwareImage) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    guard let transfer else { throw .noUpdateService }
    try await transfer.enable()
  }

  func abandon() async throws(UpdateFault) { try await transfer?.channel.send(.cancel, .upload) }

  /// The time limit in which the bootloader copies or exchanges the images.
  func startTime(of images: [FirmwareImage]) -> Duration {
    PageMoves.limit(forBytes: images.map(\.bytes.count).reduce(0, +))
  }

  // MARK: After the restart

  func running(expecting image: FirmwareImage) -> RunningImage {
    let version = device.runningVersion
    guard context.hasActivated else {
      return RunningImage(version: version, agreement: .sameVersion)
    }
    let agreement = agreement(with: image)
    return RunningImage(
      version: agreement == .sameVersion ? image.version : version, agreement: agreement)
  }

  /// Compares the running software with an image. A version that ran before the update is no
  /// evidence, and Device Information shows only changes.
  private func agreement(with image: FirmwareImage) -> RunningImage.Agreement {
    if let reported, let payload = OADPayload(image) {
      guard payload.matches(reported) else { return .different }
      if let before = retained.value.versionBefore, !payload.matches(before) { return .sameVersion }
    }
    if let before = retained.value.before.identity, identity != before {
      switch identity.agreement(with: image, before: before) {
      case .sameVersion: return .sameVersion
      case .changed: return .changed
      case .same, .untold, .restarted, .different: break
      }
    }
    return retained.value.isAccepted ? .restarted : .untold
  }
}

extension OADChannel {
  /// Returns the version of the running software; `nil` if the device does not report it.
  fileprivate func reportedVersion() async throws(UpdateFault) -> OADReportedVersion? {
    let bytes = try await ask(.softwareVersion, .connect) { notice -> [UInt8]? in
      switch notice {
      case .softwareVersion(let bytes): bytes
      case .notSupported, .status(OADCommand.softwareVersion.rawValue, _): []
      case .blockSize, .request, .status: nil
      }
    }
    return bytes.flatMap(OADReportedVersion.init)
  }
}
