import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Telink's OTA service on one connection (README.md in this folder describes the sequence).
struct TelinkSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.telink
  static let services = TelinkOTA.services

  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await TelinkChannel.characteristic(on: client) != nil
  }

  static func takes(_ image: FirmwareImage) -> Bool { image.telink != nil }

  let context: UpdateContext
  let device: DeviceReport
  private let retained: RetainedState<TelinkRetained>
  private let identity: ApplicationIdentity
  /// `nil` if the running application has no OTA service.
  private let transfer: TelinkTransfer?
  private let interval: Duration

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<TelinkRetained>
  ) async throws(UpdateFault) -> TelinkSession {
    do throws(GATTFault) {
      let identity = try await ApplicationIdentity.read(from: client)
      retained.update { $0.before.met(identity, isActivated: context.hasActivated) }
      let channel = try await TelinkChannel.open(on: client, clock: context.clock)
      var report = DeviceReport(updateProtocol, protocolVersion: channel?.notices == nil ? 1 : 2)
      report.runningVersion = identity.versions.first
      report.caution = try await TelinkBattery.caution(on: client)
      return TelinkSession(
        context: context, device: report, retained: retained, identity: identity,
        transfer: channel.map { Self.transfer(over: $0, context, retained) },
        interval: try await channel?.connectionInterval() ?? .zero)
    } catch {
      throw .gatt(.connect, error)
    }
  }

  private static func transfer(
    over channel: TelinkChannel, _ context: UpdateContext, _ retained: RetainedState<TelinkRetained>
  ) -> TelinkTransfer {
    let ladder = TelinkVariant.ladder(
      mtu: channel.client.mtu, notifies: channel.notices != nil, wanted: context.options.chunk)
    let step = min(retained.value.rejectedVariants, ladder.count - 1)
    return TelinkTransfer(
      context: context, retained: retained, channel: channel, variant: ladder[step],
      hasShorterVariant: step < ladder.count - 1)
  }

  // MARK: Before the image

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    if let version = image.version, !identity.versions.isEmpty {
      if identity.versions.contains(version), !context.options.sendsAnyway {
        return .alreadyCurrent
      }
      if let running = device.runningVersion, version < running, !context.options.allowsDowngrade {
        throw .downgrade(running: running, image: version)
      }
    }
    try checkTransfer(of: image)
    return .send(
      UpdatePlan(
        image: image, version: image.version ?? .unknown,
        allowsDowngrade: context.options.allowsDowngrade))
  }

  /// Checks the number of PDUs, and that the transfer fits the time limit of the device.
  private func checkTransfer(of image: FirmwareImage) throws(UpdateFault) {
    guard let transfer else { throw .noUpdateService }
    let room = TelinkOTA.pdusMaximum * transfer.variant.pduLength
    guard image.bytes.count <= room else {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: room)
    }
    let needed = forecast(of: image, transfer)
    let limit = context.options.telink.timeLimit
    guard needed <= limit else {
      throw .declined(.prepare, .takesTooLong(needed, limit: limit))
    }
  }

  /// The expected time of the transfer.
  private func forecast(of image: FirmwareImage, _ transfer: TelinkTransfer) -> Duration {
    let client = transfer.channel.client
    let forecast = TelinkForecast(
      facts: client.linkFacts, isEncrypted: client.security.contains(.encryption),
      interval: interval)
    return forecast.time(of: transfer.window(for: image.bytes))
  }

  // MARK: The image

  var keepsProgress: Bool { false }

  /// Prepares a transfer, which always starts at 0: the device discards an interrupted transfer.
  func prepare(_ plan: UpdatePlan, restart: Bool) async throws(UpdateFault) -> PreparedUpload {
    guard let transfer else { throw .noUpdateService }
    try await transfer.compareVersion()
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await transfer.upload(plan.image.bytes)
    }
  }

  /// Only the end of the transfer makes the device check the image.
  func verify(_ image: FirmwareImage) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    guard let transfer else { throw .noUpdateService }
    for image in images { try await transfer.finish(image.bytes) }
  }

  // MARK: After the restart

  func running(expecting image: FirmwareImage) -> RunningImage {
    guard context.hasActivated else {
      return RunningImage(version: device.runningVersion, agreement: .sameVersion)
    }
    let agreement = identity.agreement(
      with: image, before: retained.value.before.identity, isAccepted: retained.value.isAccepted)
    let isSame = image.version.map(identity.versions.contains) ?? false
    return RunningImage(
      version: isSame ? image.version : device.runningVersion, agreement: agreement)
  }
}
