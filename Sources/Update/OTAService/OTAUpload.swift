import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension OTASession {
  /// The Write Request that closed a window, and is not answered yet.
  private struct Checkpoint {
    let range: Range<Int>
    let write: PendingWrite
    let began: TransferMeter.Wait?
  }

  /// How data is written: as the caller wants, and where that is `auto`, as the characteristic
  /// takes it.
  var mode: WriteMode {
    let wanted = context.options.mode
    guard wanted == .auto else { return wanted }
    if !data.properties.contains(.write) { return .withoutResponse }
    return data.properties.contains(.writeWithoutResponse) ? .auto : .withResponse
  }

  /// Sends the image from `offset` on, in every write mode: the device's Status grants what may be
  /// sent, tells what arrived, and lets each block's CRC32 be compared.
  func upload(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault) {
    try await context.measuring(mode, over: client) { () async throws(UpdateFault) in
      try await send(image, from: offset)
    }
  }

  private func send(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault) {
    var transfer = OTATransfer(
      prefixes: image, startingAt: offset, chunk: chunkSize, windowLimit: windowLimit)
    do throws(UpdateFault) {
      try await send(image, &transfer)
    } catch {
      if case .gatt(_, .transactionTimedOut) = error { narrowWindow(after: transfer) }
      // A device that refuses a patch has read some of it: writes of the last size.
      if case .noPatch = error, let ceiling = transfer.reducedCeiling {
        retained.update { $0.chunkCeiling = ceiling }
      }
      throw error
    }
  }

  /// The bytes to send ahead of the last acknowledgement at most; `nil` if only the device limits
  /// them.
  private var windowLimit: Int? {
    let learned = retained.value.windowCeiling
    return [context.options.windowLimit, learned].compactMap(\.self).min()
  }

  /// The transport may accept more immediately than a slow link carries in the 30 s that a request
  /// has. The next connection sends half as much ahead.
  private func narrowWindow(after transfer: OTATransfer) {
    let unanswered = transfer.next - transfer.acknowledged
    guard unanswered > transfer.chunk else { return }
    retained.update { $0.windowCeiling = max(transfer.chunk, unanswered / 2) }
  }

  private func send(
    _ image: PrefixChecksums, _ transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    // While a part makes many pages of few bytes, nothing rises that Status tells.
    var patience = Patience(
      with: client, context, longer: info.writeLimit(bytes: stream?.delivery.partSize ?? 0))
    var pdu: [UInt8] = []
    var checkpoint: Checkpoint?
    defer { checkpoint?.write.abandon() }
    while statuses.poll() != nil {}
    try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    var search = try await beginSearch(&transfer)
    while !transfer.isComplete {
      // Before any Status: the one that comes behind an answer knows more than it.
      if let outcome = checkpoint?.write.poll(), let open = checkpoint.take() {
        try await settle(open, outcome, of: image, &transfer)
      } else if let notified = statuses.poll() {
        try await apply(try decode(notified.value), isAnswer: false, to: &transfer)
      } else if let range = transfer.sendable {
        if checkpoint == nil, mode == .auto, transfer.closesWindow(range) {
          checkpoint = try await beginCheckpoint(range, of: image, &transfer)
          if checkpoint != nil { continue }
        }
        // A write that is taken at once tells nothing of the device: a full window is waited for.
        if try offer(range, of: image, as: &pdu, &transfer) { continue }
        try await send(range, of: image, &transfer)
        if mode != .withResponse { continue }
      } else {
        let wait = context.meter?.begin(context.clock)
        let since = context.clock.now
        let cause = waitCause(transfer)
        if let open = checkpoint {
          // No other request goes out before that one is answered.
          try await waitForAnswer(to: open)
        } else if transfer.isHeldBack {
          try await apply(try await readStatus(), isAnswer: true, to: &transfer)
        } else {
          try await waitForStatus(&transfer)
        }
        if let wait { context.meter?.waited(wait, for: cause) }
        if cause == .flash { search?.waitedForFlash(since.duration(to: context.clock.now)) }
      }
      if let ceiling = transfer.takeVerifiedCeiling() {
        retained.update { $0.chunkCeiling = ceiling }
      }
      if let offset = transfer.takeSetback() {
        patience.fellBack(to: offset)
        patience.resends(at: context.clock.now)
        end(&search, &transfer)
      }
      follow(&search, &transfer)
      try patience.check(transfer.marks, at: context.clock.now)
    }
    end(&search, &transfer)
    let durable = transfer.durable
    retained.update { $0.durable = durable }
  }

  /// What a window that is used up waits for. A sink has in its flash whatever it has.
  private func waitCause(_ transfer: OTATransfer) -> TransferMeter.Cause {
    let pending = transfer.acknowledged - transfer.durable
    return pending * 2 > info.bufferSize ? .flash : .device
  }

  /// The longest data write that link and device take, in bytes of image.
  var longestChunk: Int { min(info.largestChunk, client.mtu - 3 - OTAService.dataHeaderSize) }

  /// The device was seen not to take what its ATT_MTU promises.
  var hasChunkCeiling: Bool { retained.value.chunkCeiling != nil }

  /// Image bytes a data write, by what is known of the link.
  var chunkSize: Int {
    // With a response a write costs its round trip, however long it is: the longest is the best.
    let pdu =
      switch mode {
      case .withResponse: client.mtu
      case .auto, .withoutResponse:
        client.bestCommandSize(
          atMost: info.largestChunk + OTAService.dataHeaderSize + 3,
          header: OTAService.dataHeaderSize, bytesPerAnswer: info.bytesPerStatus)
      }
    let fitting = context.options.chunk ?? pdu - 3 - OTAService.dataHeaderSize
    let ceiling = retained.value.chunkCeiling ?? .max
    return max(1, min(fitting, longestChunk, ceiling))
  }

  /// Writes without response what the transport takes at once, so that the task is suspended only
  /// where there is something to wait for. `false` = nothing was sent.
  private func offer(
    _ range: Range<Int>, of image: PrefixChecksums, as pdu: inout [UInt8],
    _ transfer: inout OTATransfer
  ) throws(UpdateFault) -> Bool {
    guard mode != .withResponse else { return false }
    ATTPDU.encodeWriteCommand(
      data.value, prefix: UInt32(range.lowerBound), bytes: image.bytes[range], into: &pdu)
    context.meter?.beginWriting(context.clock)
    do throws(GATTFault) {
      guard try client.offer(encoded: pdu) else { return false }
    } catch {
      throw .gatt(.upload, error)
    }
    context.sent(range.count)
    transfer.sent(range)
    return true
  }

  private func send(
    _ range: Range<Int>, of image: PrefixChecksums, _ transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    let bytes = image.bytes[range]
    let offset = UInt32(range.lowerBound)
    context.sent(range.count)
    transfer.sent(range)
    do throws(GATTFault) {
      switch mode {
      case .auto, .withoutResponse:
        let wait = context.meter?.begin(context.clock)
        try await client.command(
          encoded: ATTPDU.encodeWriteCommand(data.value, prefix: offset, bytes: bytes))
        if let wait { context.meter?.waited(wait, for: .transport) }
      case .withResponse:
        context.meter?.beginWriting(context.clock)
        let wait = context.meter?.begin(context.clock)
        try await client.write(encoded: request(range, of: image), to: data)
        if let wait { context.meter?.waited(wait, for: .response) }
        transfer.accepted(range)
        acknowledge(transfer)
      }
    } catch {
      try await writeFailed(error, range, &transfer)
    }
  }

  /// A write got no response, or a refusal.
  private func writeFailed(
    _ fault: GATTFault, _ range: Range<Int>, _ transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    switch fault {
    case .refused(_, OTAService.busy):
      transfer.refused(range)
      context.observe(.deviceBusy)
    case .refused(_, OTAService.wrongOffset), .refused(_, OTAService.noSession):
      // Its Status says where it stands, or why the session ended.
      try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    case .refused(_, OTAService.notAuthorized):
      throw .declined(.upload, .otaService(.notAuthorized))
    case .transactionTimedOut where transfer.chunk > OTATransfer.smallestChunk:
      // A write that is never answered may have been too long for the device: the next connection
      // writes what every device takes.
      retained.update { $0.chunkCeiling = OTATransfer.smallestChunk }
      throw .gatt(.upload, fault)
    default:
      throw .gatt(.upload, fault)
    }
  }

  // MARK: Checkpoints

  /// Sends the write that closes a window as a request, and does not wait for its response; `nil`
  /// where another request is open, and nothing was sent.
  private func beginCheckpoint(
    _ range: Range<Int>, of image: PrefixChecksums, _ transfer: inout OTATransfer
  ) async throws(UpdateFault) -> Checkpoint? {
    context.meter?.beginWriting(context.clock)
    let began = context.meter?.begin(context.clock)
    let write: PendingWrite?
    do throws(GATTFault) {
      write = try await client.beginWrite(encoded: request(range, of: image), to: data)
    } catch {
      throw .gatt(.upload, error)
    }
    guard let write else { return nil }
    context.sent(range.count)
    transfer.sent(range, isCheckpoint: true)
    return Checkpoint(range: range, write: write, began: began)
  }

  private func waitForAnswer(to checkpoint: Checkpoint) async throws(UpdateFault) {
    do throws(GATTFault) { try await checkpoint.write.arrival(orOf: statuses) } catch {
      throw .gatt(.upload, error)
    }
  }

  private func settle(
    _ checkpoint: Checkpoint, _ outcome: Result<Void, GATTFault>, of image: PrefixChecksums,
    _ transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    let isNews = transfer.takeCheckpoint()
    do throws(GATTFault) {
      do throws(GATTFault) {
        try outcome.get()
        if let began = checkpoint.began { context.meter?.answered(began) }
      } catch .refused(_, let code) where client.security.raised(after: code) != nil {
        // Sent as any request, it raises the link's security; what went out behind it is lost.
        try await client.write(encoded: request(checkpoint.range, of: image), to: data)
      }
      guard isNews else { return }
      transfer.accepted(checkpoint.range)
      acknowledge(transfer)
    } catch .refused(_, OTAService.busy) where !isNews {
      return
    } catch .refused(_, OTAService.wrongOffset) where !isNews {
      return
    } catch {
      try await writeFailed(error, checkpoint.range, &transfer)
    }
  }

  private func request(_ range: Range<Int>, of image: PrefixChecksums) -> [UInt8] {
    ATTPDU.encodeWriteRequest(
      data.value, prefix: UInt32(range.lowerBound), bytes: image.bytes[range])
  }

  /// Waits for the device to say something; after `silenceLimit` it is asked.
  private func waitForStatus(_ transfer: inout OTATransfer) async throws(UpdateFault) {
    let deadline = context.clock.now.advanced(by: context.options.silenceLimit)
    let notified: NotificationStream.Element?
    do throws(GATTFault) {
      notified = try await withDeadline(
        deadline, on: context.clock, orThrow: .timedOut(after: context.options.silenceLimit)
      ) { () async throws(GATTFault) -> NotificationStream.Element? in
        try await statuses.next()
      }
    } catch .timedOut {
      return try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    } catch {
      throw .gatt(.upload, error)
    }
    guard let notified else { throw .gatt(.upload, .linkLost(.closedLocally)) }
    try await apply(try decode(notified.value), isAnswer: false, to: &transfer)
  }

  /// Everything sent before this read has been seen by the device when it answers: a bearer keeps
  /// its order.
  func readStatus() async throws(UpdateFault) -> OTAStatus {
    let value: [UInt8]
    do throws(GATTFault) { value = try await client.read(status) } catch {
      throw .gatt(.upload, error)
    }
    // Notifications from before the read are older than its answer.
    while statuses.poll() != nil {}
    return try decode(value)
  }

  func apply(
    _ status: OTAStatus, isAnswer: Bool, to transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    switch status.note {
    case .flashFault, .patchRefused, .notAuthorized: throw ending(.upload, status.note)
    // Of data that came too late for a session. What ended it is told by a Status that is read.
    case .noSession: throw ending(.upload, try await readStatus().note)
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
      let position = try await goBack(to: offset)
      while statuses.poll() != nil {}
      if let position { try transfer.rewound(to: position) }
      return try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    }
    acknowledge(transfer)
  }

  /// `nil`: the device has gone back by itself meanwhile, to before `offset`; its Status says
  /// where to.
  private func goBack(to offset: Int) async throws(UpdateFault) -> OTAPosition? {
    do throws(UpdateFault) {
      return try await control.position(.rewind(offset: offset), .upload)
    } catch .declined(.upload, .otaService(.malformedRequest)) {
      return nil
    } catch {
      // Bytes that are wrong are no patch, so that the session may have ended meanwhile.
      let hasEnded = error == .declined(.upload, .otaService(.wrongState))
      throw hasEnded ? ending(.upload, try await readStatus().note) : error
    }
  }

  /// Why a device has no session any more, by what its Status says of that.
  func ending(_ stage: UpdateStage, _ note: OTAStatus.Note) -> UpdateFault {
    switch note {
    case .flashFault: .declined(stage, .otaService(.flashFault))
    case .notAuthorized: .declined(stage, .otaService(.notAuthorized))
    case .patchRefused where sentStream != nil: givingUpPatches(.refused)
    // An image as it is has nothing that could be refused in this way.
    case .patchRefused, .none, .gap, .overrun, .noSession:
      .declined(stage, .otaService(.wrongState))
    }
  }

  private func acknowledge(_ transfer: OTATransfer) {
    if let stream {
      let made = stream.imageBytes(ofFirst: transfer.acknowledged)
      return context.acknowledged(
        made, of: stream.image.size, held: stream.imageBytesHeld(ofFirst: transfer.acknowledged))
    }
    context.acknowledged(transfer.acknowledged, of: transfer.total)
  }

  private func decode(_ value: [UInt8]) throws(UpdateFault) -> OTAStatus {
    try decoding(.upload) { () throws(OTADecodeFault) in try OTAStatus(decoding: value) }
  }
}
