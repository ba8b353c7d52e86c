import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Silicon Labs' OTA on one connection: with an application, which restarts into its loader, or
/// with a receiver of the file (README.md in this folder describes the sequences).
struct SilabsSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.silabs
  static let services = [SilabsOTA.service]

  let context: UpdateContext
  private let client: GATTClient
  private let retained: RetainedState<SilabsRetained>
  private let identity: ApplicationIdentity
  private let role: SilabsRole
  private let receiver: SilabsReceiver?
  /// The version of the installed application that a loader reports.
  private let installed: UInt32?

  static func isOffered(by client: GATTClient) async throws(GATTFault) -> Bool {
    try await SilabsAttributes.find(on: client) != nil
  }

  static func takes(_ image: FirmwareImage) -> Bool { image.gbl != nil }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<SilabsRetained>
  ) async throws(UpdateFault) -> SilabsSession {
    let connected = context.clock.now
    let role: SilabsRole
    let identity: ApplicationIdentity
    var installed: UInt32?
    do throws(GATTFault) {
      role = try await SilabsRole.find(
        on: client, isLoader: retained.value.isLoader, isActivated: context.hasActivated)
      identity = try await ApplicationIdentity.read(from: client)
      if case .loader(let channel) = role { installed = try await channel.applicationVersion() }
    } catch {
      throw .gatt(.connect, error)
    }
    let session = SilabsSession(
      client: client, context: context, retained: retained, role: role, identity: identity,
      installed: installed)
    session.note(connected)
    return session
  }

  private init(
    client: GATTClient, context: UpdateContext, retained: RetainedState<SilabsRetained>,
    role: SilabsRole, identity: ApplicationIdentity, installed: UInt32?
  ) {
    (self.client, self.context, self.retained) = (client, context, retained)
    (self.role, self.identity, self.installed) = (role, identity, installed)
    let now = context.clock.now
    receiver =
      switch role {
      case .application: nil
      case .loader(let channel):
        SilabsReceiver(
          context: context, retained: retained, channel: channel, party: .loader, discovered: now)
      case .storage(let channel):
        SilabsReceiver(
          context: context, retained: retained, channel: channel, party: .storage, discovered: now)
      }
  }

  /// A device that needs longer than this time to answer again has restarted. A device that keeps
  /// running advertises immediately.
  private static let absence = Duration.milliseconds(1500)

  /// Records the role, the values of the application before the update, and a restart.
  private func note(_ connected: LinkInstant) {
    retained.update { state in
      if case .loader = role {
        state.isLoader = true
      } else {
        state.before.met(identity, isActivated: context.hasActivated)
      }
      if let closed = state.closed, closed.duration(to: connected) > Self.absence {
        state.hasRestarted = true
      }
    }
  }

  var device: DeviceReport {
    var report = DeviceReport(Self.updateProtocol, protocolVersion: 1)
    if case .loader = role { report.isInBootloader = true }
    report.runningVersion = identity.version
    return report
  }

  // MARK: Before the transfer

  /// Compares the versions of applications, and the numbers in the application tag and in the
  /// loader. The bytes cannot be compared, so an image with the same version counts as the same.
  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    let options = context.options
    if let running = identity.version, let version = image.version {
      if version == running, !options.sendsAnyway { return .alreadyCurrent }
      try check(version, against: running)
    }
    if let installed, let version = image.gbl?.application?.version {
      try check(FirmwareVersion(number: version), against: FirmwareVersion(number: installed))
    }
    return .send(
      UpdatePlan(
        image: image, version: image.version ?? .unknown,
        allowsDowngrade: options.allowsDowngrade))
  }

  private func check(
    _ version: FirmwareVersion, against running: FirmwareVersion
  ) throws(UpdateFault) {
    guard version < running, !context.options.allowsDowngrade else { return }
    throw .downgrade(running: running, image: version)
  }

  /// The loader uses the address of the application.
  var bootloaderPlaces: [DeviceLocation] {
    guard case .application(.some) = role else { return [] }
    return [.home]
  }

  func detach() async throws(UpdateFault) {
    guard case .application(let channel?) = role else { throw .noUpdateService }
    do throws(GATTFault) { try await channel.write(.begin) } catch {
      guard case .refused(_, let code) = error, code.isOfApplication else {
        throw .gatt(.detach, error)
      }
      throw .declined(.detach, .silabs(code, of: .application))
    }
    retained.update { $0.isLoader = true }
  }

  // MARK: The transfer

  private func requiredReceiver() throws(UpdateFault) -> SilabsReceiver {
    guard let receiver else { throw .noUpdateService }
    return receiver
  }

  var keepsProgress: Bool { false }

  /// Prepares a transfer, which always starts at 0: the device discards an interrupted transfer.
  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let receiver = try requiredReceiver()
    try await receiver.begin(.prepare)
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await receiver.upload(plan.image.bytes)
    }
  }

  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    try await requiredReceiver().end()
    return .verified
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await requiredReceiver().close()
  }

  /// The time limit in which the bootloader of a device with a storage copies the image.
  func startTime(of images: [FirmwareImage]) -> Duration {
    guard case .storage = role else { return .zero }
    return PageMoves.limit(forBytes: images.map(\.bytes.count).reduce(0, +))
  }

  // MARK: After the restart

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    let running = RunningImage(identity, expecting: image, before: retained.value.before.identity)
    // The loader checked the file before it started the application, which it had overwritten.
    guard case .storage = role, context.hasActivated, !retained.value.isLoader else {
      if case .loader = role { return .bootloader }
      return running
    }
    if isEvidence(running.agreement) { return running }
    if !retained.value.hasRestarted { try await waitForRestart(running) }
    guard running.agreement != .different else { return running }
    return RunningImage(version: running.version, agreement: .restarted)
  }

  /// Whether values of an application show that a new image runs. A version that ran before the
  /// update shows nothing, because this application may have rejected the file silently.
  private func isEvidence(_ agreement: RunningImage.Agreement) -> Bool {
    switch agreement {
    case .same, .changed: true
    case .sameVersion: identity.version != retained.value.before.identity?.version
    case .untold, .restarted, .different: false
    }
  }

  /// The maximum time that the host waits for the restart: the application first verifies the
  /// stored file.
  private static let restartLimit = Duration.seconds(12)
  private static let lookInterval = Duration.milliseconds(250)

  /// Waits for the end of the link by the restart. The old application still answers until it has
  /// verified the file.
  ///
  /// - Throws: `.gatt(.reconnect, .linkLost)` after the restart, so that the life cycle reconnects;
  ///   `.declined` if the device does not restart, unless another image runs.
  private func waitForRestart(_ running: RunningImage) async throws(UpdateFault) {
    let deadline = context.clock.now.advanced(by: Self.restartLimit)
    do throws(GATTFault) {
      while context.clock.now < deadline {
        guard await context.clock.pause(for: Self.lookInterval) else { throw .cancelled }
        if let ended = client.ended { throw ended }
      }
    } catch {
      if case .linkLost = error { retained.update { $0.hasRestarted = true } }
      throw .gatt(.reconnect, error)
    }
    if running.agreement != .different { throw .declined(.reconnect, .silabsNotInstalled) }
  }
}

extension FirmwareVersion {
  /// Creates a version from the number in a GBL file or of a loader; the order is the same.
  fileprivate init(number: UInt32) {
    self.init(
      UInt8(number >> 24), UInt8(truncatingIfNeeded: number >> 16),
      UInt16(truncatingIfNeeded: number))
  }
}
