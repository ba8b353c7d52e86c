import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends a script to a micro:bit in pairing mode.
struct MicrobitUpload: Sendable {
  /// The time of the flash for a block, which includes the erase of a page.
  private static let blockTime = Duration.seconds(1)
  /// The additional times of the flash for the first block: the time to store the mark of an
  /// incomplete script, and the time to erase a page of a file system.
  private static let startTime = Duration.seconds(2)
  private static let eraseTime = Duration.milliseconds(200)
  /// The time after a restart of the numbers in which a late confirmation still arrives. The
  /// device answers requests while it writes.
  private static let settlingTime = Duration.seconds(1)
  /// The time from the end of a transfer to the restart, after which a Calliope mini 3 requires a
  /// request.
  private static let restartTime = Duration.seconds(2)
  /// The time in which the host detects the restart: the longest usual supervision timeout.
  private static let lossLimit = Duration.seconds(8)

  let context: UpdateContext
  let retained: RetainedState<MicrobitRetained>
  let channel: MicrobitChannel
  let board: MicrobitBoard
  let script: MicrobitScript

  /// Makes the device count packets from 0.
  func begin() async throws(UpdateFault) {
    _ = try await channel.region(.script, .prepare)
    retained.update { $0.runtimeHash = script.runtimeHash }
  }

  func upload(_ bytes: [UInt8]) async throws(UpdateFault) {
    try await context.measuring(.withoutResponse, over: channel.client) {
      () async throws(UpdateFault) in try await sendAll(bytes)
    }
  }

  private func sendAll(_ bytes: [UInt8]) async throws(UpdateFault) {
    var transfer = MicrobitTransfer(
      start: script.area.lowerBound, script: bytes, pageSize: board.pageSize)
    var patience = Patience(with: channel.client, context, longer: firstBlockTime(bytes))
    while let block = transfer.block {
      guard !transfer.isExhausted else {
        throw .blockKeepsFailing(atOffset: transfer.written, attempts: transfer.attempts)
      }
      try await send(block, of: bytes, &transfer)
      switch try await answer(isFirst: transfer.index == 0, bytes) {
      case .written:
        transfer.confirmed()
        context.acknowledged(transfer.written, of: bytes.count)
      case .outOfOrder:
        transfer.rejected()
        context.observe(.rewound(to: transfer.written, because: .gap))
      case .silence:
        try await restartNumbers()
        transfer.numbersRestarted()
        context.observe(.rewound(to: transfer.written, because: .gap))
      }
      try patience.check(
        Patience.Marks(acknowledged: transfer.written), at: context.clock.now)
    }
  }

  private func send(
    _ block: MicrobitBlock, of bytes: [UInt8], _ transfer: inout MicrobitTransfer
  ) async throws(UpdateFault) {
    context.sent(min(MicrobitService.blockSize, bytes.count - transfer.written))
    try await context.waiting(for: .transport) { () async throws(UpdateFault) in
      for packet in block.packets(from: transfer.number) {
        try await channel.send(.data(packet), .upload)
      }
    }
    transfer.didSend()
  }

  private enum Answer { case written, outOfOrder, silence }

  private func answer(isFirst: Bool, _ bytes: [UInt8]) async throws(UpdateFault) -> Answer {
    let limit = channel.limit(work: isFirst ? firstBlockTime(bytes) : Self.blockTime)
    return try await context.waiting(for: .device) { () async throws(UpdateFault) -> Answer in
      let deadline = context.clock.now.advanced(by: limit)
      while context.clock.now < deadline {
        let left = context.clock.now.duration(to: deadline)
        switch try await channel.next(.upload, within: left) {
        case .written: return .written
        case .outOfOrder: return .outOfOrder
        case nil: return .silence
        // A late answer to an earlier request.
        case .region, .status: continue
        }
      }
      return .silence
    }
  }

  private func firstBlockTime(_ bytes: [UInt8]) -> Duration {
    Self.startTime + Self.eraseTime * (bytes.count / board.pageSize + 1)
  }

  /// Makes the device count packets from 0, after a packet or a confirmation was lost.
  private func restartNumbers() async throws(UpdateFault) {
    _ = try await channel.region(.script, .upload)
    guard await context.clock.pause(for: Self.settlingTime) else {
      throw .gatt(.upload, .cancelled)
    }
    channel.discardNotices()
  }

  // MARK: After the script

  /// Ends the transfer. The device answers only by its restart, so the host never knows whether
  /// the request has arrived.
  ///
  /// - Throws: always; `.gatt(.activate, .linkLost)` if the link has ended, `.declined` if the
  ///   device does not end the link.
  func finish() async throws(UpdateFault) -> Never {
    try await channel.send(.end, .activate)
    if await !hasEnded(within: Self.restartTime) {
      try await channel.send(.restart(.application), .activate)
      guard await hasEnded(within: Self.lossLimit) else {
        throw .declined(.activate, .microbitKeepsRunning)
      }
    }
    throw .gatt(.activate, .linkLost(.closedByPeer))
  }

  private func hasEnded(within limit: Duration) async -> Bool {
    await channel.client.waitUntilEnded(within: limit, on: context.clock)
  }
}
