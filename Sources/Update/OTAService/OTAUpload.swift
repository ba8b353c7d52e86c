import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

extension OTASession {
  /// Image octets a data write may have at most, as learned from this device.
  private struct ChunkCeiling {
    let octets: Int
  }

  /// Sends the image from `offset` on, in both write modes: the device's Status grants what may be
  /// sent, tells what arrived, and lets each block's CRC32 be compared.
  func upload(_ image: PrefixChecksums, from offset: Int) async throws(UpdateFault) {
    var transfer = OTATransfer(
      prefixes: image, startingAt: offset, chunk: chunkSize,
      windowLimit: context.options.windowLimit)
    var patience = Patience(with: client, context)
    var pdu: [UInt8] = []
    while statuses.poll() != nil {}
    try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    while !transfer.isComplete {
      if let notified = statuses.poll() {
        try await apply(try decode(notified.value), isAnswer: false, to: &transfer)
      } else if let range = transfer.sendable {
        // A write that is taken at once tells nothing of the device: a full window is waited for.
        if try offer(range, of: image, as: &pdu, &transfer) { continue }
        try await send(range, of: image, &transfer)
        if context.options.mode == .withoutResponse { continue }
      } else {
        let wait = context.meter?.begin(context.clock)
        if transfer.isHeldBack {
          try await apply(try await readStatus(), isAnswer: true, to: &transfer)
        } else {
          try await waitForStatus(&transfer)
        }
        if let wait { context.meter?.waited(wait, for: .device) }
      }
      if let offset = transfer.takeSetback() { patience.fellBack(to: offset) }
      try patience.check(transfer.marks, at: context.clock.now)
    }
  }

  /// Image octets a data write.
  var chunkSize: Int {
    // With a response a write costs its round trip, however long it is: the longest is the best.
    let pdu =
      switch context.options.mode {
      case .withResponse: client.mtu
      case .withoutResponse: PDUSizing(client.linkFacts).bestSize(mtu: ATTMTU(clamping: client.mtu))
      }
    let fitting = context.options.chunk ?? pdu - 3 - OTAService.dataHeaderSize
    let most = min(info.largestChunk, client.mtu - 3 - OTAService.dataHeaderSize)
    let ceiling = context.memory.last(ChunkCeiling.self)?.octets ?? .max
    return max(1, min(fitting, most, ceiling))
  }

  /// Writes without response what the transport takes at once, so that the task is suspended only
  /// where there is something to wait for. `false` = nothing was sent.
  private func offer(
    _ range: Range<Int>, of image: PrefixChecksums, as pdu: inout [UInt8],
    _ transfer: inout OTATransfer
  ) throws(UpdateFault) -> Bool {
    guard context.options.mode == .withoutResponse else { return false }
    ATTPDU.encodeWriteCommand(
      data.value, prefix: UInt32(range.lowerBound), octets: image.bytes[range], into: &pdu)
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
    let octets = image.bytes[range]
    let offset = UInt32(range.lowerBound)
    context.sent(range.count)
    transfer.sent(range)
    do throws(GATTFault) {
      switch context.options.mode {
      case .withoutResponse:
        let wait = context.meter?.begin(context.clock)
        try await client.command(
          encoded: ATTPDU.encodeWriteCommand(data.value, prefix: offset, octets: octets))
        if let wait { context.meter?.waited(wait, for: .transport) }
      case .withResponse:
        context.meter?.beginWriting(context.clock)
        let wait = context.meter?.begin(context.clock)
        try await client.write(
          encoded: ATTPDU.encodeWriteRequest(data.value, prefix: offset, octets: octets), to: data)
        if let wait { context.meter?.waited(wait, for: .response) }
        transfer.accepted(range)
        acknowledge(transfer)
      }
    } catch .refused(_, OTAService.busy) {
      transfer.refused(range)
      context.observe(.deviceBusy)
    } catch .refused(_, OTAService.wrongOffset) {
      try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    } catch .refused(_, OTAService.noSession) {
      // Its Status says why the session ended.
      try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    } catch .transactionTimedOut where transfer.chunk > OTATransfer.smallestChunk {
      // A write that is never answered may have been too long for the device: the next connection
      // writes what every device takes.
      context.memory.keep(ChunkCeiling(octets: OTATransfer.smallestChunk))
      throw .gatt(.upload, .transactionTimedOut)
    } catch .refused(_, OTAService.notAuthorized) {
      throw .declined(.upload, .otaService(.notAuthorized))
    } catch {
      throw .gatt(.upload, error)
    }
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

  private func apply(
    _ status: OTAStatus, isAnswer: Bool, to transfer: inout OTATransfer
  ) async throws(UpdateFault) {
    switch status.note {
    case .flashFault: throw .declined(.upload, .otaService(.flashFault))
    // An image as it is has nothing that could be refused in this way.
    case .noSession, .patchRefused: throw .declined(.upload, .otaService(.wrongState))
    case .notAuthorized: throw .declined(.upload, .otaService(.notAuthorized))
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
      let position = try await control.position(.rewind(offset: offset), .upload)
      while statuses.poll() != nil {}
      try transfer.rewound(to: position)
      return try await apply(try await readStatus(), isAnswer: true, to: &transfer)
    }
    acknowledge(transfer)
  }

  private func acknowledge(_ transfer: OTATransfer) {
    context.acknowledged(transfer.acknowledged, of: transfer.total)
  }

  private func decode(_ value: [UInt8]) throws(UpdateFault) -> OTAStatus {
    try decoding(.upload) { () throws(OTADecodeFault) in try OTAStatus(decoding: value) }
  }
}
