import OtaflashFirmware
import OtaflashGATT

/// The transfer of the sectors.
extension EspressifPeer {
  /// Sends the image from a sector on. Returns when the device has accepted all sectors.
  func upload(_ image: FirmwareImage, from first: Int) async throws(UpdateFault) {
    let mode: WriteMode = usesCommands ? .withoutResponse : .withResponse
    try await context.measuring(mode, over: channel.client) { () async throws(UpdateFault) in
      try await sendAll(EspressifSectors(image.bytes, dataSize: dataSize), image, from: first)
    }
  }

  private func sendAll(
    _ sectors: EspressifSectors, _ image: FirmwareImage, from first: Int
  ) async throws(UpdateFault) {
    let limit = context.options.windowLimit.map { max(1, $0 / EspressifOTA.sectorSize) }
    var transfer = EspressifTransfer(
      count: sectors.count, from: first,
      window: min(retained.value.window, limit ?? .max), statesWanted: device.statesWanted)
    // A device may first erase its partition.
    var patience = Patience(with: channel.client, context, longer: context.options.busyLimit)
    while !transfer.isComplete {
      if let answer = try channel.poll(.upload) {
        try await take(answer, &transfer, image)
      } else if transfer.maySend {
        try await sendPacket(&transfer, sectors)
      } else {
        try await waitForAnswer(&transfer, image)
      }
      report(transfer, sectors)
      let acknowledged = sectors.bytes(in: transfer.acknowledged)
      try patience.check(Patience.Marks(acknowledged: acknowledged), at: context.clock.now)
    }
  }

  private func report(_ transfer: EspressifTransfer, _ sectors: EspressifSectors) {
    retained.update { $0.advanced(sent: transfer.sent, acknowledged: transfer.acknowledged) }
    context.acknowledged(sectors.bytes(in: transfer.acknowledged), of: sectors.image.count)
  }

  private func sendPacket(
    _ transfer: inout EspressifTransfer, _ sectors: EspressifSectors
  ) async throws(UpdateFault) {
    let packets = sectors.packets(of: transfer.sector)
    let number = transfer.packet
    let value = sectors.value(number, of: packets, sector: transfer.sector)
    let isLast = number == packets.count - 1
    // NimBLEOta restarts before it responds to the last packet of the image.
    let isWithoutResponse =
      usesCommands || channel.acceptsCommands && isLast && transfer.sector == transfer.count - 1
    transfer.sentPacket(isLast: isLast)
    // The device may receive a packet whose transmission the host cannot confirm.
    retained.update { $0.advanced(sent: transfer.sent, acknowledged: transfer.acknowledged) }
    context.sent(packets[number].count)
    if isWithoutResponse {
      try await context.waiting(for: .transport) { () async throws(UpdateFault) in
        try await channel.send(value, .upload)
      }
    } else {
      let isAccepted = try await context.waiting(for: .response) {
        () async throws(UpdateFault) in try await channel.write(value, .upload)
      }
      if !isAccepted { try await recover(&transfer, sectors.image) }
    }
  }

  private func take(
    _ answer: EspressifSectorAnswer, _ transfer: inout EspressifTransfer, _ image: FirmwareImage
  ) async throws(UpdateFault) {
    confirm(by: answer)
    switch try transfer.received(answer) {
    case .proceed: break
    case .lost: try await recover(&transfer, image.bytes)
    case .failed(let status): throw .declined(.upload, status.ofSector())
    }
  }

  /// Waits for an answer. After `silenceLimit`, examines the state of the device.
  private func waitForAnswer(
    _ transfer: inout EspressifTransfer, _ image: FirmwareImage
  ) async throws(UpdateFault) {
    let answer = try await context.waiting(for: .device) {
      () async throws(UpdateFault) -> EspressifSectorAnswer? in
      try await channel.answer(.upload, within: context.options.silenceLimit)
    }
    if let answer {
      try await take(answer, &transfer, image)
    } else {
      context.observe(.deviceBusy)
      try await recover(&transfer, image.bytes)
    }
  }

  /// Surveys the device, and returns to the sector that the device expects, or, if the device does
  /// not report this sector, to the first sector that it has not accepted. After the survey no
  /// earlier answer is pending that could be confused with the answer to a repeated sector.
  private func recover(
    _ transfer: inout EspressifTransfer, _ image: [UInt8]
  ) async throws(UpdateFault) {
    let before = transfer
    var changed = transfer
    let wanted = try await survey(.upload) { (answer) throws(UpdateFault) in
      confirm(by: answer)
      if case .failed(let status) = try changed.received(answer) {
        throw .declined(.upload, status.ofSector())
      }
    }
    transfer = changed
    if device.survey != .barrier {
      guard let wanted else {
        throw .declined(.upload, .espressifTransferEnded(isComplete: before.sent == before.count))
      }
      guard transfer.expects(wanted) else {
        throw .declined(.upload, .espressifTransferInProgress)
      }
    }
    guard !transfer.isComplete, transfer.acknowledged < transfer.sent || transfer.packet > 0 else {
      return
    }
    // A device that stores every packet cannot discard a part of a sector.
    guard device != .bluedroid, device != .component else {
      throw .declined(.upload, .espressifTransferInProgress)
    }
    if device.keepsPartialSector { try await clearSector(transfer.acknowledged, image) }
    try transfer.goBack()
    context.observe(
      .rewound(to: transfer.acknowledged * EspressifOTA.sectorSize, because: .gap))
  }

  /// Discards a partly received sector, and waits for the answer.
  private func clearSector(_ sector: Int, _ image: [UInt8]) async throws(UpdateFault) {
    let sectors = EspressifSectors(image, dataSize: dataSize)
    _ = try await channel.write(sectors.clearing(sector), .upload)
    _ = try await channel.answer(.upload, within: context.options.silenceLimit)
  }
}
