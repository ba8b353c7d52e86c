import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Espressif's OTA service on one connection (README.md in this folder describes the sequence).
struct EspressifSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.espressif
  static let services = [EspressifOTA.service]

  private let peer: EspressifPeer
  private let identity: EspressifIdentity

  static func takes(_ image: FirmwareImage) -> Bool { image.esp != nil }

  /// Other services use the same 16-bit UUID, so both characteristics are required.
  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await EspressifChannel.find(on: client) != nil
  }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<EspressifRetained>
  ) async throws(UpdateFault) -> EspressifSession {
    let identity: EspressifIdentity
    do throws(GATTFault) { identity = try await EspressifIdentity.read(from: client) } catch {
      throw .gatt(.connect, error)
    }
    if !context.hasActivated { retained.update { $0.met(identity.application) } }
    let channel = try await EspressifChannel.open(on: client, clock: context.clock)
    return EspressifSession(peer: EspressifPeer(channel, context, retained), identity: identity)
  }

  var device: DeviceReport {
    var report = DeviceReport(Self.updateProtocol, protocolVersion: 1)
    report.runningVersion = identity.version
    return report
  }

  // MARK: Before the transfer

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    guard let esp = image.esp else { throw .imageNotTaken(by: [Self.updateProtocol]) }
    let options = peer.context.options
    if let chip = identity.chip, chip != esp.chip, !options.allowsOtherHardware {
      throw .declined(
        .prepare, .espressifOtherChip(esp.chip.description, device: chip.description))
    }
    guard image.bytes.count <= EspressifOTA.imageMaximum else {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: EspressifOTA.imageMaximum)
    }
    if let running = identity.version, let version = image.version {
      if version == running && !options.sendsAnyway { return .alreadyCurrent }
      if version < running && !options.allowsDowngrade {
        throw .downgrade(running: running, image: version)
      }
    }
    return .send(
      UpdatePlan(
        image: image, version: image.version ?? .unknown,
        allowsDowngrade: options.allowsDowngrade))
  }

  // MARK: The transfer

  /// The next command cannot resume a transfer: it has no record that the device holds this image.
  var keepsProgress: Bool { false }

  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let first = try await peer.start(plan.image, restart: restart)
    let offset = min(first * EspressifOTA.sectorSize, plan.image.bytes.count)
    return PreparedUpload(from: offset) { () async throws(UpdateFault) in
      try await peer.upload(plan.image, from: first)
    }
  }

  /// The device checks the image only after the last sector.
  func verify(_ image: FirmwareImage) -> UpdateVerdict { .verified }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await peer.finish()
  }

  func abandon() async throws(UpdateFault) { try await peer.abandon() }

  // MARK: After the restart

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    // Without an activation, no earlier values are compared: the same version is sufficient.
    let before = peer.context.hasActivated ? peer.retained.value.before : nil
    let agreement = identity.agreement(with: image, before: before)
    if peer.context.hasActivated, agreement != .sameVersion, agreement != .changed {
      try await peer.checkRestart()
    }
    return RunningImage(version: identity.version, agreement: agreement)
  }
}
