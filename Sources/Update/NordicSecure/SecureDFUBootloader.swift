import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// A Secure DFU bootloader on one connection.
struct SecureDFUBootloader: Sendable {
  /// The maximum number of times that an incomplete init packet is sent again.
  private static let initPacketRepeatsMaximum = 3

  let client: GATTClient
  let context: UpdateContext
  let packet: DiscoveredCharacteristic
  let control: SecureDFUControl
  /// The bootloader's response to select (command) at the start of the connection: the progress in
  /// an init packet, and the maximum size of an init packet.
  let initSelection: SecureDFUSelection

  static func open(
    on client: GATTClient, _ context: UpdateContext, controlPoint: DiscoveredCharacteristic
  ) async throws(UpdateFault) -> SecureDFUBootloader {
    let packet: DiscoveredCharacteristic
    let notices: NotificationStream
    do throws(GATTFault) {
      packet = try await client.characteristic(SecureDFU.packet, in: SecureDFU.service)
      notices = try await client.subscribe(to: controlPoint, as: .notifications)
    } catch {
      throw .gatt(.connect, error)
    }
    let control = SecureDFUControl(
      client: client, characteristic: controlPoint, notices: notices, clock: context.clock)
    return SecureDFUBootloader(
      client: client, context: context, packet: packet, control: control,
      initSelection: try await control.select(.command, .connect))
  }

  /// The maximum packet size on this connection.
  var packetSizeMaximum: Int {
    SecureDFUObjects.packetSize(mtu: client.mtu, limit: context.options.chunk ?? .max)
  }

  /// The packet size on this connection. It fills connection events if their interval is known and
  /// the caller did not set a size.
  var packetSize: Int {
    guard context.options.chunk == nil, client.linkFacts.connectionInterval != nil else {
      return packetSizeMaximum
    }
    return SecureDFUObjects.packetSize(
      mtu: client.mtu,
      filling: client.bestCommandSize(unit: SecureDFUObjects.packetAlignment))
  }

  /// Makes the bootloader accept the init packet, reads the bootloader's progress in the image, and
  /// returns the remaining upload.
  ///
  /// - Parameter restart: whether the bootloader must discard the part of an earlier transfer that
  ///   it holds.
  func prepare(
    _ image: FirmwareImage, _ package: NordicInitPacket, restart: Bool
  ) async throws(UpdateFault) -> PreparedUpload {
    let initPacket = package.bytes
    guard initPacket.count <= initSelection.sizeMaximum else {
      throw .declined(
        .prepare,
        .initPacketTooLong(initPacket.count, limit: initSelection.sizeMaximum))
    }
    // Receipts are not needed, because an init packet is short and is compared completely.
    try await control.perform(.setReceiptNotification(packets: 0), .prepare)
    try await sendInitPacket(PrefixChecksums(initPacket), restart: restart)
    try await executeInitPacket(package)
    let selection = try await control.select(.data, .prepare)
    let checksums = PrefixChecksums(image.bytes)
    return PreparedUpload(from: SecureDFUResumeState(selection, of: checksums).offset) {
      () async throws(UpdateFault) in try await upload(checksums)
    }
  }

  /// Makes the bootloader check signature, versions and sizes. After a refusal, requests a restart
  /// of the unchanged application; otherwise the bootloader would wait for two minutes.
  private func executeInitPacket(_ package: NordicInitPacket) async throws(UpdateFault) {
    switch try await control.exchange(.execute, .prepare) {
    case .done: return
    case .refused(_, let refusal):
      await control.abort()
      throw .declined(.prepare, refusal.inWords(of: package.secure))
    case .selected, .progress: throw SecureDFUControl.unexpected(.execute, .prepare)
    }
  }

  private func sendInitPacket(
    _ initPacket: PrefixChecksums, restart: Bool
  ) async throws(UpdateFault) {
    var standing =
      restart
      ? SecureDFUInitStanding.absent
      : SecureDFUInitStanding(initSelection.progress, of: initPacket)
    for _ in 0...Self.initPacketRepeatsMaximum {
      var offset = 0
      switch standing {
      case .whole: return
      case .partial(let held): offset = held
      case .absent:
        try await createInitPacket(initPacket.count)
      }
      for start in stride(from: offset, to: initPacket.count, by: packetSize) {
        let end = min(start + packetSize, initPacket.count)
        try await send(initPacket.bytes[start..<end], .prepare)
      }
      let progress = try await control.checksum(.prepare)
      standing = SecureDFUInitStanding(progress, of: initPacket)
      if standing != .whole { standing = .absent }
    }
    throw .declined(.prepare, .initPacketDamaged)
  }

  private func createInitPacket(_ size: Int) async throws(UpdateFault) {
    switch try await control.exchange(.create(.command, size: UInt32(size)), .prepare) {
    case .done: return
    case .refused(_, .result(.insufficientResources)):
      throw .declined(.prepare, .initPacketTooLong(size, limit: initSelection.sizeMaximum))
    case .refused(_, let refusal): throw .declined(.prepare, refusal.inWords())
    case .selected, .progress: throw SecureDFUControl.unexpected(.create, .prepare)
    }
  }

  /// Executes the last object. The bootloader then checks the image, responds, and restarts
  /// automatically.
  func activate() async throws(UpdateFault) {
    switch try await control.exchange(.execute, .activate) {
    case .done: return
    case .refused(_, .result(.invalidObject)): throw .declined(.activate, .imageNotTaken)
    case .refused(_, let refusal): throw .declined(.activate, refusal.inWords())
    case .selected, .progress: throw SecureDFUControl.unexpected(.execute, .activate)
    }
  }
}
