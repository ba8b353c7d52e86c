import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A device that takes an image by legacy DFU: a boot loader, or an application that does it itself.
struct LegacyDFUReceiver: Sendable {
  let context: UpdateContext
  let control: LegacyDFUControl
  let device: LegacyDFUDevice
  /// `nil` before SDK 7, which had no init packet either.
  let version: LegacyDFUVersion?

  // MARK: Before the image

  /// Announces the image. The device erases the room for it before it answers, or at the latest
  /// with the first packets.
  func prepare(_ package: NordicInitPacket) async throws(UpdateFault) {
    let sizes = LegacyDFUSizes(package.sizes)
    try await control.write(.start(sizes.parts), .prepare)
    try await control.send(sizes.encoded[...], .prepare)
    let limit = context.options.busyLimit
    let status = try await control.status(of: .start, .prepare, within: limit)
    if status == .invalidState { try await startOver(.prepare) }
    guard status == .success else { throw .declined(.prepare, status.inWords) }
    guard let version, version >= .withInitPacket else { return }
    try await control.write(.initPacketBegin, .prepare)
    for start in stride(from: 0, to: package.bytes.count, by: LegacyDFU.packetSize) {
      let end = min(start + LegacyDFU.packetSize, package.bytes.count)
      try await control.send(package.bytes[start..<end], .prepare)
    }
    try await control.write(.initPacketEnd, .prepare)
    let judgement = try await control.status(of: .initPacket, .prepare, within: limit)
    guard judgement == .success else {
      await startApplication()
      throw .declined(.prepare, judgement.inWords)
    }
  }

  /// A boot loader that has refused would wait for two minutes before it starts the application.
  private func startApplication() async {
    guard !device.updatesInApplication else { return }
    do throws(UpdateFault) {
      try await control.write(.reset, .prepare)
    } catch {
      // One that was not told restarts by itself when nobody talks to it any more.
    }
  }

  /// Resets the device, which is the only way out of a transfer that went wrong, and waits until the
  /// link has ended by it: the next connection begins anew.
  func startOver(_ stage: UpdateStage) async throws(UpdateFault) -> Never {
    try await control.write(.reset, stage)
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

  /// Lets the device compare what it holds with the checksum in the init packet.
  func verify() async throws(UpdateFault) {
    try await control.write(.validate, .verify)
    try await control.answer(to: .validate, .verify, within: context.options.controlLimit)
  }

  /// The device restarts at once: the Write Response is all that it says.
  func activate() async throws(UpdateFault) { try await control.write(.activate, .activate) }

  /// Leaves a transfer: the device restarts.
  func abandon() async throws(UpdateFault) { try await control.write(.reset, .upload) }
}

extension LegacyDFUSizes {
  init(_ sizes: NordicSizes) {
    self.init(
      softDevice: Int(sizes.softdevice), bootLoader: Int(sizes.bootloader),
      application: Int(sizes.application))
  }

  /// The parts that are not empty.
  var parts: LegacyDFUParts {
    var parts: LegacyDFUParts = []
    if softDevice > 0 { parts.insert(.softDevice) }
    if bootLoader > 0 { parts.insert(.bootLoader) }
    if application > 0 { parts.insert(.application) }
    return parts
  }
}
