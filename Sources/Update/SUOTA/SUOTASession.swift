import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// SUOTA on one connection (README.md in this folder describes the sequence).
struct SUOTASession: UpdateSession {
  static let updateProtocol = UpdateProtocol.suota
  static let services = SUOTAUUIDs.all.map(\.service)

  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await SUOTAChannel.attributes(on: client) != nil
  }

  static func takes(_ image: FirmwareImage) -> Bool { image.suota != nil }

  let context: UpdateContext
  let device: DeviceReport
  private let retained: RetainedState<SUOTARetained>
  private let identity: ApplicationIdentity
  /// `nil` if the running application has no SUOTA service.
  private let transfer: SUOTATransfer?

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<SUOTARetained>
  ) async throws(UpdateFault) -> SUOTASession {
    do throws(GATTFault) {
      let identity = try await ApplicationIdentity.read(from: client)
      retained.update { $0.before.met(identity, isActivated: context.hasActivated) }
      let channel = try await SUOTAChannel.open(on: client, clock: context.clock)
      var report = DeviceReport(updateProtocol, protocolVersion: channel?.version ?? 0)
      report.runningVersion = identity.suotaVersion
      return SUOTASession(
        context: context, device: report, retained: retained, identity: identity,
        transfer: channel.map {
          SUOTATransfer(context: context, retained: retained, channel: $0)
        })
    } catch {
      throw .gatt(.connect, error)
    }
  }

  // MARK: Before the image

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    let options = context.options
    if identity.runs(image), !options.sendsAnyway { return .alreadyCurrent }
    if let version = image.version, let running = device.runningVersion, version < running,
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

  private func requiredTransfer() throws(UpdateFault) -> SUOTATransfer {
    guard let transfer else { throw .noUpdateService }
    return transfer
  }

  var keepsProgress: Bool { false }

  /// Starts a transfer, which always starts at 0: the device discards an interrupted transfer.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload {
    let transfer = try requiredTransfer()
    try await transfer.start(plan.image, .prepare)
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await transfer.upload(plan.image)
    }
  }

  /// Only the end of the transfer makes the device check the image.
  func verify(_ image: FirmwareImage) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    let transfer = try requiredTransfer()
    for image in images { try await transfer.finish(image) }
  }

  func abandon() async throws(UpdateFault) { try await transfer?.abandon(.upload) }

  // MARK: After the restart

  func running(expecting image: FirmwareImage) -> RunningImage {
    guard context.hasActivated else {
      return RunningImage(version: device.runningVersion, agreement: .sameVersion)
    }
    let state = retained.value
    let agreement = identity.agreement(
      withSUOTA: image, before: state.before.identity,
      hasRestarted: state.isAccepted && state.hasRestarted)
    return RunningImage(
      version: identity.runs(image) ? image.version : device.runningVersion, agreement: agreement)
  }
}
