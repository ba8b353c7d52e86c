import OtaflashFirmware

/// The start of a transfer, or its continuation after a lost link.
extension EspressifPeer {
  /// Starts the transfer of the image, or continues it.
  ///
  /// - Returns: the first sector to send.
  func start(_ image: FirmwareImage, restart: Bool) async throws(UpdateFault) -> Int {
    let mayResume: (Int) -> Bool = { wanted in
      !restart && retained.value.explains(wanted, of: image)
    }
    switch device.resumption {
    case .withoutStart, .onlyAfterRestart:
      return try await startOrContinue(image, mayResume)
    case .afterRejectedStart:
      let isUnanswered = retained.value.explains(0, of: image)
      guard try await announce(image) != .accepted else { return 0 }
      if !isUnanswered { retained.update { $0.rejected() } }
      guard let wanted = try await survey(.prepare, { _ in }), mayResume(wanted) else {
        throw .declined(.prepare, .espressifTransferInProgress)
      }
      try await clear(wanted, of: image)
      return wanted
    case .afterStart: return try await startAndSurvey(image, mayResume)
    case .none:
      let status = try await announce(image)
      guard status == .accepted else { throw .declined(.prepare, status.ofStart()) }
      return 0
    }
  }

  /// Asks a device for its state before START, because ble_ota accepts START during a transfer
  /// although its writer continues after the bytes that it already has.
  private func startOrContinue(
    _ image: FirmwareImage, _ mayResume: (Int) -> Bool
  ) async throws(UpdateFault) -> Int {
    if let wanted = try await survey(.prepare, { _ in }), wanted > 0 {
      guard device.resumption == .withoutStart, mayResume(wanted) else {
        throw .declined(.prepare, .espressifTransferInProgress)
      }
      return wanted
    }
    guard try await announce(image) == .accepted else {
      throw .declined(.prepare, .espressifTransferInProgress)
    }
    return 0
  }

  /// NimBLEOta resumes a transfer at START if the size is the same, and otherwise ends it.
  private func startAndSurvey(
    _ image: FirmwareImage, _ mayResume: (Int) -> Bool
  ) async throws(UpdateFault) -> Int {
    for _ in 0..<2 {
      let isKnown = mayResume
      var status = try await announce(image, keepingRecord: true)
      // A transfer of another size has ended now.
      if status != .accepted { status = try await announce(image, keepingRecord: true) }
      guard status == .accepted else { throw .declined(.prepare, status.ofStart()) }
      guard let wanted = try await survey(.prepare, { _ in }) else {
        throw .protocolViolation(.prepare, "the device does not report the expected sector")
      }
      if wanted > 0, isKnown(wanted) { return wanted }
      retained.update { $0.began(image) }
      if wanted == 0 { return 0 }
      _ = try await channel.perform(.stop, .prepare, within: context.options.controlLimit)
    }
    throw .declined(.prepare, .espressifTransferInProgress)
  }

  /// Sends START. If the device accepts START, records the window, and the start of a new transfer
  /// unless `keepingRecord` is true.
  private func announce(
    _ image: FirmwareImage, keepingRecord: Bool = false
  ) async throws(UpdateFault) -> EspressifStatus {
    // These devices erase the flash before the answer, perhaps longer than the 30 s of an ATT
    // transaction, so START is written without response. The packet before START is written with
    // response to ensure the security of the link; outside of a transfer the device ignores it.
    let isLong = device == .raw || device == .nimbleOTA
    if isLong { _ = try await channel.write(Self.marker(device.survey), .prepare) }
    retained.update { $0.announces(image) }
    let answer = try await channel.perform(
      .start(length: UInt32(image.bytes.count)), .prepare, within: context.options.busyLimit,
      isLong: isLong)
    guard answer.status == .accepted else { return answer.status }
    let window = device == .raw ? min(max(1, Int(answer.window)), 64) : 1
    retained.update {
      $0.window = window
      if !keepingRecord { $0.began(image) }
    }
    return .accepted
  }

  /// Makes the device discard the part of a sector that it received.
  func clear(_ sector: Int, of image: FirmwareImage) async throws(UpdateFault) {
    guard device.keepsPartialSector else { return }
    let sectors = EspressifSectors(image.bytes, dataSize: dataSize)
    guard sector < sectors.count else { return }
    _ = try await channel.write(sectors.clearing(sector), .prepare)
    let deadline = context.clock.now.advanced(by: context.options.silenceLimit)
    while context.clock.now < deadline {
      let left = context.clock.now.duration(to: deadline)
      guard let answer = try await channel.answer(.prepare, within: left) else { return }
      if Int(answer.sector) == sector, answer.status == .rejected { return }
    }
  }

  /// The number of image bytes per packet.
  var dataSize: Int {
    let header = EspressifOTA.headerSize
    let value = min(EspressifOTA.valueMaximum, channel.client.mtu - 3)
    let fastest =
      usesCommands
      ? channel.client.bestCommandSize(
        atMost: EspressifOTA.valueMaximum + 3, header: header) - header : value - header
    let wanted = context.options.chunk ?? fastest
    return max(EspressifOTA.dataMinimum, min(wanted, value - header))
  }

  /// Whether packets are written without response.
  var usesCommands: Bool {
    channel.acceptsCommands && context.options.mode != .withResponse
  }
}
