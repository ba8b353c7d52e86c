import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends an image over TI's OAD service on one connection.
struct OADTransfer: Sendable {
  /// The maximum number of times that an announcement is sent if the device does not answer it.
  private static let triesMaximum = 3
  /// The time in which a device stores the activation of an image.
  private static let enableLimit = Duration.seconds(10)
  /// The number of consecutive waits without a notification after which the answer to the last
  /// block counts as lost.
  private static let silencesMaximum = 5

  let context: UpdateContext
  let retained: RetainedState<OADRetained>
  let channel: OADChannel

  // MARK: Before the blocks

  /// Discards an earlier transfer, and announces the image. Returns the size of a block.
  func prepare(
    _ payload: OADPayload, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Int {
    let limit = context.options.busyLimit / 6
    for _ in 0..<Self.triesMaximum {
      // Some devices do not answer this command, and all devices process it before the next one.
      try await channel.send(.cancel, stage)
      let size = try await blockSize(stage)
      guard
        let status = try await channel.identify(payload.announcement, stage, within: limit)
      else { continue }
      guard status == .success else { throw .declined(stage, status.inWords) }
      return size
    }
    throw .declined(stage, .oadNoAnswer)
  }

  private func blockSize(_ stage: UpdateStage) async throws(UpdateFault) -> Int {
    let answer = try await channel.ask(.blockSize, stage) { notice -> Int? in
      if case .blockSize(let size) = notice { size } else { nil }
    }
    guard let answer else { throw .declined(stage, .oadNoAnswer) }
    guard answer > OADOTA.numberSize else {
      throw .protocolViolation(stage, "it reports blocks of \(answer) bytes")
    }
    guard answer + OADOTA.attOverhead <= channel.client.mtu else {
      throw .declined(stage, .oadBlockTooLong(answer, mtu: channel.client.mtu))
    }
    return answer
  }

  /// Sends START, and waits for the first request for a block. Returns `false` if the device does
  /// not answer, or answers with a status after which the announcement must be repeated.
  private func start() async throws(UpdateFault) -> Bool {
    try await channel.send(.start, .upload)
    let status = try await channel.answer(.upload, within: context.options.busyLimit / 6) {
      notice -> OADStatus? in
      switch notice {
      case .request(let status, _), .status(OADCommand.start.rawValue, let status): status
      case .status, .blockSize, .softwareVersion, .notSupported: nil
      }
    }
    guard let status, !status.showsLoss else { return false }
    guard status == .success else { throw .declined(.upload, status.inWords) }
    return true
  }

  // MARK: The blocks

  /// Sends an announced image. If a block is lost, announces the image again and starts over.
  func upload(
    _ image: [UInt8], _ payload: OADPayload, blockSize: Int
  ) async throws(UpdateFault) {
    try await context.measuring(.withoutResponse, over: channel.client) {
      () async throws(UpdateFault) in
      var size = blockSize
      while try await !attempt(image, payload, blockSize: size) {
        guard retained.value.losses < OADRetained.lossesMaximum else {
          throw .declined(.upload, OADStatus.overflow.inWords)
        }
        retained.update { $0.losses += 1 }
        context.observe(.rewound(to: 0, because: .gap))
        context.acknowledged(0, of: image.count)
        size = try await prepare(payload, .upload)
      }
    }
  }

  /// Sends the image from its first block. Returns `false` if the transfer does not start, or if a
  /// block was lost, after which the device discards the transfer.
  private func attempt(
    _ image: [UInt8], _ payload: OADPayload, blockSize: Int
  ) async throws(UpdateFault) -> Bool {
    guard try await start() else { return false }
    var window = OADWindow(
      total: image.count, blockBytes: blockSize - OADOTA.numberSize,
      headerSize: payload.headerSize, losses: retained.value.losses,
      maximum: context.options.windowLimit)
    // The device erases the flash for the complete image after the header.
    var patience = Patience(with: channel.client, context, longer: context.options.busyLimit)
    var silences = 0
    while !window.isComplete {
      var notice = try channel.poll(.upload)
      if notice == nil, window.sendable != nil {
        try await send(image, &window)
        continue
      }
      if notice == nil { notice = try await nextNotice() }
      if let notice {
        silences = 0
        guard try take(notice, &window, payload) else { return false }
      } else {
        silences += 1
        // The answer to the last block may be lost; the device then accepts the activation.
        if window.isAllSent, !window.isBeforeData, silences >= Self.silencesMaximum { break }
        window.probe()
      }
      context.acknowledged(window.confirmedBytes, of: image.count)
      try patience.check(
        Patience.Marks(acknowledged: window.confirmedBytes), at: context.clock.now)
    }
    return true
  }

  private func send(_ image: [UInt8], _ window: inout OADWindow) async throws(UpdateFault) {
    var ahead = window
    defer { window = ahead }
    context.meter?.beginWriting(context.clock)
    try await channel.sendBlocks {
      guard let range = ahead.sendable else { return nil }
      let number = UInt32(clamping: ahead.sent)
      ahead.didSend()
      context.sent(range.count)
      return OADBlock.encoded(number: number, image[range])
    } afterWait: { time in
      context.meter?.waited(time, for: .transport)
    }
  }

  /// Waits for a notification; returns `nil` if none arrives within the limit of silence.
  private func nextNotice() async throws(UpdateFault) -> OADNotice? {
    try await context.waiting(for: .device) { () async throws(UpdateFault) in
      try await channel.next(
        .upload, until: context.clock.now.advanced(by: context.options.silenceLimit))
    }
  }

  /// Processes a notification. Returns `false` if the device has lost a block.
  private func take(
    _ notice: OADNotice, _ window: inout OADWindow, _ payload: OADPayload
  ) throws(UpdateFault) -> Bool {
    switch notice {
    case .request(.success, let block):
      guard window.requested(block) else {
        throw .protocolViolation(
          .upload, "it requests block \(block), but only \(window.sent) blocks were sent")
      }
      guard block < window.count else { throw .declined(.upload, .oadNeedsPadding) }
    case .request(.complete, _):
      guard window.completed() else {
        throw .protocolViolation(
          .upload, "it accepted the image after \(window.sent) of \(window.count) blocks")
      }
    case .request(.overflow, _) where expectsCompleteSlot(window, payload):
      throw .declined(.upload, .oadNeedsPadding)
    case .request(let status, _), .status(OADNotice.blockEvent, let status):
      guard status.showsLoss else { throw .declined(.upload, status.inWords) }
      return false
    // Late answers to earlier commands.
    case .status, .blockSize, .softwareVersion, .notSupported: break
    }
    return true
  }

  /// Whether a device with MCUboot has refused the last block only because it is shorter than the
  /// others: the device then expects a complete slot.
  private func expectsCompleteSlot(_ window: OADWindow, _ payload: OADPayload) -> Bool {
    payload.generation == .mcuboot && window.isAllSent && window.confirmed == window.count - 1
      && window.total % window.blockBytes != 0
  }

  // MARK: After the blocks

  /// Makes the device restart into the image. The device ends the link.
  func enable() async throws(UpdateFault) {
    try await channel.send(.enable, .activate)
    let status = try await channel.answer(.activate, within: Self.enableLimit) {
      notice -> OADStatus? in
      if case .status(OADCommand.enable.rawValue, let status) = notice { status } else { nil }
    }
    guard let status else { throw .declined(.activate, .oadNoAnswer) }
    guard status == .success else { throw .declined(.activate, status.inWords) }
    retained.update { $0.isAccepted = true }
  }
}
