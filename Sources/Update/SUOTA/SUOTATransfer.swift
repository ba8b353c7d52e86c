import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends an image over SUOTA on one connection: the start and the data.
struct SUOTATransfer: Sendable {
  /// The time in which a device reports the start of a transfer.
  private static let startLimit = Duration.seconds(10)
  /// The number of times that the host reads the status of a silent device before missing data
  /// counts as lost, and the additional number per sector of 4 KiB until the first block is
  /// reported, because a device erases the space for an image.
  private static let looksMaximum = 5
  private static let looksPerSector = 1
  private static let sector = 4096
  /// The longest time to erase a sector.
  private static let eraseTime = Duration.milliseconds(500)

  /// The result of sending the data of an image.
  private enum Outcome { case complete, held, bufferTooSmall }

  let context: UpdateContext
  let retained: RetainedState<SUOTARetained>
  let channel: SUOTAChannel

  // MARK: The start

  /// Whether the chip receives blocks; otherwise it receives a stream.
  static func usesBlocks(_ image: FirmwareImage) -> Bool { image.suota?.chip == .da1453x }

  /// Starts a transfer, which makes the device discard an earlier transfer.
  func start(_ image: FirmwareImage, _ stage: UpdateStage) async throws(UpdateFault) {
    let options = context.options.suota
    retained.update { ($0.isHeld, $0.isAccepted, $0.hasRestarted) = (false, false, false) }
    while try channel.poll(stage) != nil {}
    try await performing(stage) { () async throws(GATTFault) in
      try await channel.write(.start(options.memory, bank: options.bank))
    }
    let status = try await status(after: "the start", stage, within: Self.startLimit) {
      // An error that is read may be older than the command.
      $0 == .imageStarted
    }
    guard status == .imageStarted else { throw .declined(stage, status.inWords) }
    guard Self.usesBlocks(image) || options.pins != nil else { return }
    let pins = SUOTAQuirk.pins(for: channel.services, options)
    try await performing(stage) { () async throws(GATTFault) in try await channel.write(pins: pins)
    }
  }

  func performing<Value>(
    _ stage: UpdateStage, _ body: () async throws(GATTFault) -> Value
  ) async throws(UpdateFault) -> Value {
    do throws(GATTFault) { return try await body() } catch { throw .gatt(stage, error) }
  }

  /// Waits for the status of a command. If its notification is lost, reads the status.
  ///
  /// - Parameters:
  ///   - command: the command, for the message.
  ///   - isAnswer: whether a status that is read belongs to the command.
  func status(
    after command: String, _ stage: UpdateStage, within limit: Duration,
    _ isAnswer: (SUOTAStatus) -> Bool
  ) async throws(UpdateFault) -> SUOTAStatus {
    let deadline = context.clock.now.advanced(by: limit)
    while context.clock.now < deadline {
      let notified = try await channel.next(stage, within: context.options.silenceLimit)
      // The last block may be reported twice, and a device may announce the service first.
      if let notified {
        if notified == .serviceStarted || stage != .activate && notified == .done { continue }
        return notified
      }
      let read = try await performing(stage) { () async throws(GATTFault) in
        try await channel.lastStatus()
      }
      if let read, isAnswer(read) { return read }
    }
    throw .declined(stage, .suotaSilence(command))
  }

  // MARK: The data

  func window(for image: FirmwareImage) -> SUOTAWindow {
    let options = context.options
    let total = image.bytes.count + 1
    let packet = max(
      1, min(channel.dataSize, channel.client.mtu - 3, options.chunk ?? .max))
    let state = retained.value
    guard Self.usesBlocks(image) else {
      return SUOTAWindow(
        streaming: total, packet: packet, losses: state.losses, limit: options.windowLimit)
    }
    let sizes = SUOTAWindow.bufferSizes
    return SUOTAWindow(
      total: total, packet: packet, buffer: sizes[min(state.rejectedBuffers, sizes.count - 1)],
      limit: options.windowLimit)
  }

  func upload(_ image: FirmwareImage) async throws(UpdateFault) {
    try await context.measuring(
      channel.hasCommands ? .withoutResponse : .withResponse, over: channel.client
    ) { () async throws(UpdateFault) in
      while true {
        switch try await sendAll(image) {
        case .complete: return
        case .held:
          retained.update { $0.isHeld = true }
          return
        case .bufferTooSmall:
          retained.update { $0.rejectedBuffers += 1 }
          // The response follows the statuses of all packets of the block.
          _ = try await performing(.upload) { () async throws(GATTFault) in
            try await channel.lastStatus()
          }
          try await start(image, .upload)
        }
      }
    }
  }

  private func sendAll(_ image: FirmwareImage) async throws(UpdateFault) -> Outcome {
    let data = image.suotaData
    let sectors = (data.count + Self.sector - 1) / Self.sector
    var window = window(for: image)
    var looks = 0
    var patience = Patience(
      with: channel.client, context, longer: Self.eraseTime * sectors)
    while !window.isComplete {
      var status = try channel.poll(.upload)
      if status == nil {
        if let length = window.lengthDue {
          try await announce(length, &window)
        } else if window.sendable != nil {
          try await send(data, &window)
          continue
        } else {
          status = try await context.waiting(for: .device) {
            () async throws(UpdateFault) -> SUOTAStatus? in
            try await channel.next(.upload, within: context.options.silenceLimit)
          }
          if status == nil {
            looks += 1
            let more = window.acknowledged == 0 ? sectors * Self.looksPerSector : 0
            status = try await look(
              &window, image, isLast: looks > Self.looksMaximum + more)
          }
        }
      }
      if let status {
        if status == .done { looks = 0 }
        if let outcome = try await take(status, &window, image) { return outcome }
      }
      context.acknowledged(
        min(window.acknowledged, image.bytes.count), of: image.bytes.count)
      try patience.check(
        Patience.Marks(acknowledged: window.acknowledged), at: context.clock.now)
    }
    return .complete
  }

  private func announce(_ length: Int, _ window: inout SUOTAWindow) async throws(UpdateFault) {
    try await performing(.upload) { () async throws(GATTFault) in
      try await channel.write(length: length)
    }
    window.announced(length)
  }

  /// Sends packets until a status must arrive.
  private func send(_ data: [UInt8], _ window: inout SUOTAWindow) async throws(UpdateFault) {
    var ahead = window
    defer { window = ahead }
    context.meter?.beginWriting(context.clock)
    try await performing(.upload) { () async throws(GATTFault) in
      try await channel.sendPackets {
        guard let range = ahead.sendable else { return nil }
        ahead.didSend(range)
        context.sent(range.count)
        return data[range]
      } afterWait: { time in
        context.meter?.waited(time, for: .transport)
      }
    }
  }

  // MARK: Status

  /// Processes a status. Returns an outcome if the transfer ends with it.
  private func take(
    _ status: SUOTAStatus, _ window: inout SUOTAWindow, _ image: FirmwareImage
  ) async throws(UpdateFault) -> Outcome? {
    switch status {
    case .done:
      window.reported()
      return nil
    // The answer to the start may be repeated.
    case .serviceStarted, .imageStarted: return nil
    case .bufferTooSmall
    where Self.usesBlocks(image) && window.acknowledged == 0
      && retained.value.rejectedBuffers + 1 < SUOTAWindow.bufferSizes.count:
      return .bufferTooSmall
    // Only blocks have a limit.
    case .bufferTooSmall where !Self.usesBlocks(image):
      throw .declined(.upload, .suotaReceivesBlocks)
    // An earlier attempt of this update was accepted, but the answer was lost.
    case .sameImage where context.hasActivated, .sameInactiveImage where context.hasActivated:
      return .held
    default:
      guard status.mayPass else { throw .declined(.upload, status.inWords) }
      try await startOver(because: status.inWords.meaning)
    }
  }

  /// Reads the status and the number of received bytes of a silent device. Returns the status if it
  /// reports an error; otherwise `nil`.
  ///
  /// - Parameter isLast: whether missing data now counts as lost.
  private func look(
    _ window: inout SUOTAWindow, _ image: FirmwareImage, isLast: Bool
  ) async throws(UpdateFault) -> SUOTAStatus? {
    let (last, received) = try await performing(.upload) {
      () async throws(GATTFault) -> (SUOTAStatus?, Int?) in
      (try await channel.lastStatus(), try await channel.receivedBytes())
    }
    if let last, !last.isGood { return last }
    guard let received else { return nil }
    if !window.received(received, imageSize: image.bytes.count), isLast {
      try await startOver(because: "it did not receive all packets")
    }
    return nil
  }

  /// Ends the connection, so that the next connection starts over; a stream then has fewer bytes in
  /// flight.
  private func startOver(because reason: String) async throws(UpdateFault) -> Never {
    guard retained.value.losses < SUOTARetained.lossesMaximum else {
      throw .declined(.upload, .suotaLosses)
    }
    retained.update { $0.losses += 1 }
    context.observe(.rewound(to: 0, because: .gap))
    context.restarted(because: reason)
    try await abandon(.upload)
    channel.client.closeLink()
    throw .gatt(.upload, .transactionTimedOut)
  }

  /// Makes the device discard the transfer.
  func abandon(_ stage: UpdateStage) async throws(UpdateFault) {
    try await performing(stage) { () async throws(GATTFault) in try await channel.write(.exit) }
  }
}
