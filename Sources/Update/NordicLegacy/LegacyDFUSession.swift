import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Nordic's legacy DFU on one connection: with an application, which restarts into its bootloader,
/// or with a receiver of the image (README.md in this folder describes the sequence).
struct LegacyDFUSession: UpdateSession {
  static let updateProtocol = UpdateProtocol.nordicLegacy
  static let services = [LegacyDFU.service, MicrobitDFU.service]
  static let places: [DeviceLocation] = [.home, .nextAddress]

  private enum Side {
    /// The connected application; the value is `nil` if the application cannot start its
    /// bootloader.
    case application(LegacyDFUEntry?)
    case receiver(LegacyDFUReceiver)
  }

  let context: UpdateContext
  private let client: GATTClient
  private let retained: RetainedState<LegacyDFURetained>
  private let identity: ApplicationIdentity
  private let side: Side

  static func takes(_ image: FirmwareImage) -> Bool { image.legacyDFUPackage != nil }

  static func open(
    on client: GATTClient, _ context: UpdateContext, _ retained: RetainedState<LegacyDFURetained>
  ) async throws(UpdateFault) -> LegacyDFUSession {
    let identity: ApplicationIdentity
    let found: LegacyDFURole
    do throws(GATTFault) {
      identity = try await ApplicationIdentity.read(from: client)
      found = try await LegacyDFURole.find(on: client)
    } catch {
      throw .gatt(.connect, error)
    }
    let side: Side
    switch found {
    case .none: side = .application(nil)
    case .application(let entry): side = .application(entry)
    case .receiver(let version):
      side = .receiver(
        LegacyDFUReceiver(
          context: context, retained: retained,
          control: try await LegacyDFUControl.open(on: client, clock: context.clock),
          device: LegacyDFUDevice(identity), version: version))
    }
    if case .application = side, context.place == .nextAddress {
      throw .strangerAtBootloaderAddress
    }
    let session = LegacyDFUSession(
      context: context, client: client, retained: retained, identity: identity, side: side)
    if session.isApplication {
      retained.update { $0.before.met(identity, isActivated: context.hasActivated) }
    }
    return session
  }

  /// Whether the connected program is the application that the update replaces.
  private var isApplication: Bool {
    switch side {
    case .application: true
    case .receiver(let receiver): receiver.device.updatesInApplication
    }
  }

  var device: DeviceReport {
    var report = DeviceReport(Self.updateProtocol, protocolVersion: 1)
    // A bootloader's Device Information describes the bootloader.
    if isApplication { report.runningVersion = identity.version }
    report.isInBootloader = !isApplication
    if case .receiver(let receiver) = side {
      report.slotSize = receiver.device.imageSizeMaximum
      report.caution = receiver.device.knownBootloader?.warning
    }
    return report
  }

  func check(_ image: FirmwareImage) throws(UpdateFault) -> Preflight {
    guard let image = image.legacyDFUPackage else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    if let room = device.slotSize, image.bytes.count > room {
      throw .doesNotFit(imageSize: image.bytes.count, slotSize: room)
    }
    if case .receiver(let receiver) = side, let known = receiver.device.knownBootloader,
      known.consequence == .loss, !context.options.sendsAnyway
    {
      throw .declined(.prepare, known.refusal)
    }
    return try Preflight.check(image, against: device.runningVersion, context.options)
  }

  // MARK: To the bootloader

  /// The locations of the bootloader, in search order. With a bond, a bootloader keeps the device's
  /// address, which the life cycle searches last.
  var bootloaderPlaces: [DeviceLocation] {
    guard case .application(let entry?) = side else { return [] }
    return [entry.bootloaderPlace]
  }

  func detach() async throws(UpdateFault) {
    guard case .application(let entry?) = side else { throw .noUpdateService }
    try await entry.enter()
  }

  // MARK: The transfer

  private func receiver() throws(UpdateFault) -> LegacyDFUReceiver {
    guard case .receiver(let receiver) = side else { throw .noUpdateService }
    return receiver
  }

  var keepsProgress: Bool { false }

  /// Performs a step of the transfer. After a refusal, repeated losses, a protocol violation or an
  /// expired time limit, ends the transfer on the device.
  private func transferring(
    _ step: (LegacyDFUReceiver) async throws(UpdateFault) -> Void
  ) async throws(UpdateFault) {
    let receiver = try receiver()
    do throws(UpdateFault) { try await step(receiver) } catch {
      if error.leavesTransferOpen { await receiver.leave() }
      throw error
    }
  }

  /// Prepares a transfer, which always starts at 0, because the device keeps no data of an
  /// interrupted transfer.
  func prepare(
    _ plan: UpdatePlan, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    guard let package = plan.image.initPacket else {
      throw .imageNotTaken(by: [Self.updateProtocol])
    }
    try await transferring { (receiver) async throws(UpdateFault) in
      try await receiver.prepare(package)
    }
    return PreparedUpload(from: 0) { () async throws(UpdateFault) in
      try await transferring { (receiver) async throws(UpdateFault) in
        try await receiver.upload(plan.image.bytes)
      }
    }
  }

  func verify(_ image: FirmwareImage) async throws(UpdateFault) -> UpdateVerdict {
    try await transferring { (receiver) async throws(UpdateFault) in
      try await receiver.verify()
    }
    return .verified
  }

  func activate(
    _ images: [FirmwareImage], keeping current: [FirmwareImage]
  ) async throws(UpdateFault) {
    try await receiver().activate()
  }

  func abandon() async throws(UpdateFault) {
    if case .receiver(let receiver) = side { try await receiver.abandon() }
  }

  // MARK: After the restart

  func placesAfterActivation(of images: [FirmwareImage]) -> [DeviceLocation] {
    if case .receiver(let receiver) = side, receiver.device.updatesInApplication { return [.home] }
    return context.place.after(images)
  }

  /// A program of a micro:bit need not use Bluetooth.
  func silentRestartLimit(of images: [FirmwareImage]) -> Duration? {
    images.contains { $0.microbit != nil } ? .seconds(15) : nil
  }

  func running(expecting image: FirmwareImage) async throws(UpdateFault) -> RunningImage {
    guard isApplication else { return image.leavesBootloader ? .newBootloader : .bootloader }
    if image.microbit != nil {
      try await MicrobitChannel.checkThatProgramRuns(on: client, clock: context.clock)
    }
    var validation: String?
    if case .receiver(let receiver) = side { validation = receiver.device.validation }
    return RunningImage(
      identity, expecting: image, before: retained.value.before.identity,
      validation: validation)
  }
}

extension UpdateFault {
  /// Whether the link still exists after the fault while the device is in a transfer that cannot
  /// continue.
  fileprivate var leavesTransferOpen: Bool {
    switch self {
    case .declined, .blockKeepsFailing, .protocolViolation, .gatt(_, .timedOut): true
    default: false
    }
  }
}
