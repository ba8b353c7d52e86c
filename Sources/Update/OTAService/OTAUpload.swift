import OtaflashFirmware
import OtaflashGATT

/// Performs one upload on one connection in any write mode, from the first Status to the last
/// acknowledged byte (README.md in this folder). The device's Status grants a window, acknowledges
/// bytes, and contains the CRC32 that the host compares after each block.
struct OTAUpload {
  /// An event before the next command.
  private enum Event {
    /// The checkpoint was answered.
    case answer(OTACheckpoint, Result<Void, GATTFault>)
    /// A Status was notified.
    case status([UInt8])
    /// The write of this range is the last write that fits the window.
    case windowCloses(Range<Int>)
    /// The write mode requires a response to this write.
    case request(Range<Int>)
    /// Nothing may be sent before the next message of the device.
    case windowUsed
  }

  private let payload: OTAPayload
  private let context: UpdateContext
  private let retained: RetainedState<OTARetained>
  private let path: OTADataPath
  private let statuses: OTAStatusFeed
  private let control: OTAControl
  private var transfer: OTATransfer
  private var setbacks: OTASetbacks
  private var checkpoint: OTACheckpoint?
  /// The start of the upload; `nil` before the first Status.
  private var began: (offset: Int, time: LinkInstant)?

  /// The maximum number of connection events for one window on a fast link: a round trip takes two
  /// events, and the device may need several events to answer.
  private static let eventsOfSlowWindow = 6

  init(of payload: OTAPayload, from offset: Int, over session: OTASession) {
    self.payload = payload
    context = session.context
    retained = session.retained
    path = session.path
    statuses = session.statuses
    control = session.control
    transfer = OTATransfer(
      prefixes: payload.bytes, startingAt: offset, chunk: path.chunkSize,
      windowLimit: path.windowLimit)
    setbacks = OTASetbacks(over: path, sending: payload)
  }

  mutating func run() async throws(UpdateFault) {
    do throws(UpdateFault) { try await sendAll() } catch {
      setbacks.learn(from: error, of: transfer)
      throw error
    }
  }

  private mutating func sendAll() async throws(UpdateFault) {
    defer { checkpoint?.write.abandon() }
    statuses.discard()
    try await readStatus()
    began = (transfer.acknowledged, context.clock.now)
    while !transfer.isComplete {
      switch try await sendCommands() {
      case .answer(let checkpoint, let outcome): try await settle(checkpoint, outcome)
      case .status(let value):
        try await apply(try OTAStatusFeed.decode(value), isAnswer: false)
      case .windowCloses(let range):
        try await beginCheckpoint(range)
        // The device has reported nothing new, so there is no progress to check.
        continue
      case .request(let range): try await write(range)
      case .windowUsed: try await waitForDevice()
      }
      try setbacks.look(at: &transfer)
    }
    retained.update { $0.durable = transfer.durable }
  }

  // MARK: Data

  /// Sends commands until another event occurs.
  private mutating func sendCommands() async throws(UpdateFault) -> Event {
    var event: Event?
    do throws(GATTFault) {
      try await path.sendCommands(of: payload.bytes) {
        event = nextEvent()
        guard event == nil, let range = transfer.sendable else { return nil }
        transfer.sent(range)
        return range
      }
    } catch {
      throw writeFailed(error)
    }
    return event ?? .windowUsed
  }

  /// Returns the event that must be processed before the next command; `nil` = no event.
  private mutating func nextEvent() -> Event? {
    // The response is processed before any Status, because a later Status contains more than the
    // response.
    if let outcome = checkpoint?.write.poll(), let open = checkpoint.take() {
      return .answer(open, outcome)
    }
    if let value = statuses.poll() { return .status(value) }
    guard let range = transfer.sendable else { return .windowUsed }
    return switch path.mode {
    case .withResponse: .request(range)
    case .auto where checkpoint == nil && transfer.closesWindow(range): .windowCloses(range)
    case .auto, .withoutResponse: nil
    }
  }

  private mutating func write(_ range: Range<Int>) async throws(UpdateFault) {
    transfer.sent(range)
    do throws(GATTFault) {
      try await path.write(range, of: payload.bytes)
      transfer.accepted(range)
      acknowledge()
    } catch {
      try await refused(range, by: error)
    }
  }

  private mutating func beginCheckpoint(_ range: Range<Int>) async throws(UpdateFault) {
    do throws(GATTFault) {
      checkpoint = try await path.beginCheckpoint(range, of: payload.bytes)
    } catch {
      throw .gatt(.upload, error)
    }
    let isSent = checkpoint != nil
    transfer.sent(range, isCheckpoint: isSent)
    guard !isSent else { return }
    // Another request is open, so this write is also sent as a command.
    var unsent: Range<Int>? = range
    do throws(GATTFault) {
      try await path.sendCommands(of: payload.bytes) { unsent.take() }
    } catch {
      throw writeFailed(error)
    }
  }

  private mutating func settle(
    _ checkpoint: OTACheckpoint, _ outcome: Result<Void, GATTFault>
  ) async throws(UpdateFault) {
    let isNews = transfer.takeCheckpoint()
    do throws(GATTFault) {
      try await path.settle(checkpoint, outcome, of: payload.bytes)
      guard isNews else { return }
      transfer.accepted(checkpoint.range)
      acknowledge()
    } catch .refused(_, OTAService.busy) where !isNews {
      return
    } catch .refused(_, OTAService.wrongOffset) where !isNews {
      return
    } catch {
      try await refused(checkpoint.range, by: error)
    }
  }

  /// Handles a request that received no response or was refused.
  private mutating func refused(
    _ range: Range<Int>, by fault: GATTFault
  ) async throws(UpdateFault) {
    switch fault {
    case .refused(_, OTAService.busy):
      transfer.refused(range)
      context.observe(.deviceBusy)
    case .refused(_, OTAService.wrongOffset), .refused(_, OTAService.noSession):
      // The device's Status contains the offset, or the reason why the session ended.
      try await readStatus()
    case .refused(_, OTAService.notAuthorized):
      throw .declined(.upload, .otaService(.notAuthorized))
    default:
      throw writeFailed(fault)
    }
  }

  /// Returns the fault of a failed write. A write that received no response may have been too long,
  /// so the next connection uses the length that every device supports.
  private func writeFailed(_ fault: GATTFault) -> UpdateFault {
    if fault == .transactionTimedOut, transfer.chunk > OTATransfer.smallestChunk {
      path.limitChunks(to: OTATransfer.smallestChunk)
    }
    return .gatt(.upload, fault)
  }

  // MARK: Status

  /// Waits for a message of the device, or reads its Status.
  private mutating func waitForDevice() async throws(UpdateFault) {
    let wait = context.meter?.begin(context.clock)
    // `limit` is the number of bytes that have left the device's buffer, plus the buffer's size.
    let buffered = transfer.acknowledged - (transfer.limit - path.info.bufferSize)
    let isFull = buffered * 2 > path.info.bufferSize
    if let open = checkpoint {
      // No other request is sent before the open request is answered.
      do throws(GATTFault) { try await open.write.arrival(orOf: statuses.notifications) } catch {
        throw .gatt(.upload, error)
      }
    } else if transfer.isHeldBack {
      try await readStatus()
    } else if let status = try await statuses.next() {
      try await apply(status, isAnswer: false)
    } else {
      try await readStatus()
    }
    if let wait { context.meter?.waited(wait, for: isFull ? .flash : causeOfOpenWindow) }
  }

  /// The cause of a wait for the window while the buffer of the device is mostly empty, so that the
  /// last bytes of the window are on their way. If the link needs several round trips to carry a
  /// window, the link is slow, and a larger window would not help.
  private var causeOfOpenWindow: TransferMeter.Cause {
    guard let interval = path.client.linkFacts.connectionInterval, let began else { return .device }
    let window = min(path.info.bufferSize, path.windowLimit ?? .max)
    let took = began.time.duration(to: context.clock.now)
    let windowTime = took * window / max(1, transfer.acknowledged - began.offset)
    return windowTime > interval * Self.eventsOfSlowWindow ? .transport : .device
  }

  private mutating func readStatus() async throws(UpdateFault) {
    try await apply(try await statuses.read(), isAnswer: true)
  }

  private mutating func apply(_ status: OTAStatus, isAnswer: Bool) async throws(UpdateFault) {
    switch status.note {
    case .flashFault, .patchRefused, .notAuthorized: throw retained.ending(.upload, status.note)
    // The data arrived after the session had ended. Only a read Status contains the reason for the
    // end.
    case .noSession: throw retained.ending(.upload, try await statuses.read().note)
    case .none, .gap, .overrun: break
    }
    guard status.state == .receiving else { throw .declined(.upload, .otaService(.wrongState)) }
    switch try transfer.received(status, isAnswer: isAnswer) {
    case .proceed:
      if status.window == 0 && transfer.acknowledged < transfer.total {
        context.observe(.deviceBusy)
      }
    case .resend(let offset, let reason):
      context.observe(.rewound(to: offset, because: reason))
    case .discard(let offset):
      context.observe(.rewound(to: offset, because: .blockChecksum))
      return try await discard(from: offset)
    }
    acknowledge()
  }

  /// Makes the device go back to the start of a block that differs.
  private mutating func discard(from offset: Int) async throws(UpdateFault) {
    let position = try await rewind(to: offset)
    statuses.discard()
    if let position { try transfer.rewound(to: position) }
    try await readStatus()
  }

  /// Sends REWIND. Returns `nil` if the device has already gone back to an earlier offset; the
  /// device's Status then contains that offset.
  private func rewind(to offset: Int) async throws(UpdateFault) -> OTAPosition? {
    do throws(UpdateFault) {
      return try await control.position(.rewind(offset: offset), .upload)
    } catch .declined(.upload, .otaService(.malformedRequest)) {
      return nil
    } catch {
      // Wrong bytes are not a valid patch, so the device may have ended the session in the
      // meantime.
      guard error == .declined(.upload, .otaService(.wrongState)) else { throw error }
      throw retained.ending(.upload, try await statuses.read().note)
    }
  }

  /// Reports progress in image bytes, even for a stream.
  private func acknowledge() {
    context.acknowledged(
      payload.imageBytes(ofFirst: transfer.acknowledged), of: payload.imageSize,
      held: payload.imageBytesHeld(ofFirst: transfer.acknowledged))
  }
}
