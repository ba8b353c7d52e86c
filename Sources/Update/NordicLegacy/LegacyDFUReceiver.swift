import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A device that receives an image over legacy DFU: a bootloader or an application.
struct LegacyDFUReceiver: Sendable {
  let context: UpdateContext
  let retained: RetainedState<LegacyDFURetained>
  let control: LegacyDFUControl
  let device: LegacyDFUDevice
  /// The version of the DFU service; `nil` for SDK 6 and earlier, which have no init packet either.
  let version: LegacyDFUVersion?

  /// The maximum number of times that a lost init packet is sent again.
  private static let initPacketRepeatsMaximum = 3

  // MARK: Before the image

  /// Announces the image, and returns when the device is ready for its packets.
  func prepare(_ package: NordicInitPacket) async throws(UpdateFault) {
    let sizes = LegacyDFUSizes(package.sizes)
    control.forget()
    try await control.write(.start(sizes.parts), .prepare)
    try await control.send(sizes.encoded[...], .prepare)
    let status = try await control.status(
      of: .start, .prepare, within: context.options.busyLimit)
    // The device keeps its state after a disconnection until it is reset.
    if status == .invalidState { try await startOver(.prepare, because: .earlierTransfer) }
    guard status == .success else { throw refusal(status, of: .start, .prepare) }
    let ready = context.clock.now.advanced(by: settingsTime)
    if let version, version >= .withInitPacket { try await sendInitPacket(package.bytes) }
    guard await context.clock.pause(until: ready) else { throw .gatt(.prepare, .cancelled) }
  }

  /// The time that the device needs to write its settings; longer after an early packet was
  /// dropped.
  private var settingsTime: Duration {
    device.settingsTime * (1 << retained.value.losses.early)
  }

  private func sendInitPacket(_ bytes: [UInt8]) async throws(UpdateFault) {
    var status = LegacyDFUStatus.success
    for repeats in 0...Self.initPacketRepeatsMaximum {
      control.forget()
      try await control.write(.initPacketBegin, .prepare)
      for start in stride(from: 0, to: bytes.count, by: LegacyDFU.packetSize) {
        let end = min(start + LegacyDFU.packetSize, bytes.count)
        try await control.send(bytes[start..<end], .prepare)
      }
      try await control.write(.initPacketEnd, .prepare)
      status = try await control.status(
        of: .initPacket, .prepare, within: context.options.busyLimit)
      if status == .success { return }
      // The init packet did not arrive, or arrived incomplete.
      let isDamaged = repeats == 0 && bytes.count > LegacyDFU.packetSize
      guard status == .invalidState || isDamaged else { break }
    }
    throw refusal(status, of: .initPacket, .prepare)
  }

  func refusal(
    _ status: LegacyDFUStatus, of opcode: LegacyDFUOpcode, _ stage: UpdateStage
  ) -> UpdateFault {
    .declined(stage, status.inWords(of: opcode, by: device))
  }

  // MARK: Out of a transfer

  /// Ends the transfer in a bootloader that refused a request. The bootloader would otherwise wait
  /// for minutes without accepting another transfer. If the application is still complete, it runs
  /// again. Does nothing if the application itself receives the image.
  func leave() async {
    guard !device.updatesInApplication else { return }
    let clock = context.clock
    let silence = UpdateFault.gatt(.prepare, .transactionTimedOut)
    do throws(UpdateFault) {
      try await withDeadline(
        clock.now.advanced(by: context.options.abortLimit), on: clock, orThrow: silence
      ) { () async throws(UpdateFault) in try await control.write(.reset, .prepare) }
    } catch {
      // A device that does not receive the request restarts automatically after an idle time.
    }
  }

  /// The reason why a transfer starts over.
  enum Restart: String {
    case earlierTransfer = "it was still in the middle of an earlier transfer"
    case droppedPackets = "it had dropped packets"
  }

  /// Resets the device, and waits until the link has ended, whose loss is then thrown. A reset is
  /// the only way to end a failed transfer. The next connection starts over.
  func startOver(_ stage: UpdateStage, because reason: Restart) async throws(UpdateFault) -> Never {
    try await control.write(.reset, stage)
    context.restarted(because: reason.rawValue)
    let silence = UpdateFault.gatt(stage, .transactionTimedOut)
    try await withDeadline(
      context.clock.now.advanced(by: context.options.controlLimit), on: context.clock,
      orThrow: silence
    ) { () async throws(UpdateFault) in
      while true { _ = try await control.next(stage) }
    }
    throw silence
  }

  // MARK: After the image

  /// Makes the device compare the received image with the checksum in the init packet.
  func verify() async throws(UpdateFault) {
    try await control.write(.validate, .verify)
    let status = try await control.status(
      of: .validate, .verify, within: context.options.controlLimit)
    guard status == .success else { throw refusal(status, of: .validate, .verify) }
  }

  /// Activates the image. The device restarts immediately, so the Write Response is its only
  /// answer.
  func activate() async throws(UpdateFault) { try await control.write(.activate, .activate) }

  /// Leaves a transfer by restarting the device.
  func abandon() async throws(UpdateFault) { try await control.write(.reset, .upload) }
}

extension LegacyDFUSizes {
  init(_ sizes: NordicSizes) {
    self.init(
      softDevice: Int(sizes.softdevice), bootloader: Int(sizes.bootloader),
      application: Int(sizes.application))
  }

  /// The parts that are not empty.
  var parts: LegacyDFUParts {
    var parts: LegacyDFUParts = []
    if softDevice > 0 { parts.insert(.softDevice) }
    if bootloader > 0 { parts.insert(.bootloader) }
    if application > 0 { parts.insert(.application) }
    return parts
  }
}
