import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends an image over legacy DFU, in packets up to the limit of the window; receipts advance the
/// window.
extension LegacyDFUReceiver {
  func upload(_ image: [UInt8]) async throws(UpdateFault) {
    try await context.measuring(.withoutResponse, over: control.client) {
      () async throws(UpdateFault) in try await sendAll(image)
    }
  }

  private func sendAll(_ image: [UInt8]) async throws(UpdateFault) {
    let packetSize = device.packetSize(mtu: control.client.mtu, wanted: context.options.chunk)
    let pace = LegacyDFUPace(
      afterLosses: device.firstPace + retained.value.losses.dropped,
      limit: context.options.windowLimit.map { $0 / packetSize } ?? .max)
    try await control.write(
      .setReceiptNotification(packets: UInt16(pace.receiptInterval)), .upload)
    try await control.write(.receive, .upload)
    var transfer = LegacyDFUTransfer(
      total: image.count, packetSize: packetSize, pace: pace, asks: device.answersReports)
    var patience = Patience(with: control.client, context)
    while !transfer.isWhole {
      let before = transfer.acknowledged
      if let notice = try control.poll(.upload) {
        try await take(notice, &transfer)
      } else if transfer.isQuestionDue {
        try await ask(&transfer)
      } else if let packet = transfer.sendable {
        transfer.sent(packet)
        context.sent(packet.count)
        try await context.waiting(for: .transport) { () async throws(UpdateFault) in
          try await control.send(image[packet], .upload)
        }
        continue
      } else {
        try await context.waiting(for: .device) { () async throws(UpdateFault) in
          try await waitForNotice(&transfer)
        }
      }
      if transfer.acknowledged > before { report(transfer) }
      try patience.check(
        Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
    }
  }

  private func ask(_ transfer: inout LegacyDFUTransfer) async throws(UpdateFault) {
    transfer.question()
    try await control.write(.reportReceived, .upload)
  }

  /// Waits for a message of the device. After `silenceLimit`, requests the number of received
  /// bytes.
  private func waitForNotice(_ transfer: inout LegacyDFUTransfer) async throws(UpdateFault) {
    let limit = context.options.silenceLimit
    let silence = UpdateFault.gatt(.upload, .timedOut(after: limit))
    do throws(UpdateFault) {
      let notice = try await withDeadline(
        context.clock.now.advanced(by: limit), on: context.clock, orThrow: silence
      ) { () async throws(UpdateFault) -> LegacyDFUNotice in try await control.next(.upload) }
      try await take(notice, &transfer)
    } catch silence {
      try await ask(&transfer)
    }
  }

  private func take(
    _ notice: LegacyDFUNotice, _ transfer: inout LegacyDFUTransfer
  ) async throws(UpdateFault) {
    switch notice {
    case .receipt(let bytes):
      if try transfer.received(receipt: bytes) == .lost { try await lost(transfer) }
    case .received(let bytes):
      if try transfer.reported(bytes) == .lost { try await lost(transfer) }
    case .answer(.receive, .success): try transfer.answered()
    // The device had no buffer for a packet.
    case .answer(.receive, .operationFailed): try await lost(transfer, hadNoBuffer: true)
    case .answer(.receive, let status): throw refusal(status, of: .receive, .upload)
    // Not every device supports this request.
    case .answer(.reportReceived, _): transfer.questionRefused()
    case .answer(let opcode, _):
      throw .protocolViolation(.upload, "it answered \(opcode) while the image was sent")
    }
  }

  /// Restarts the transfer at a slower pace after packets were dropped. If the device had no buffer
  /// for the first packets, it may only need more time before these packets. A longer wait is
  /// therefore tried first, and again after each reduction of the pace.
  private func lost(
    _ transfer: LegacyDFUTransfer, hadNoBuffer: Bool = false
  ) async throws(UpdateFault) {
    let mayBeEarly =
      hadNoBuffer && transfer.acknowledged < LegacyDFUPace.firstBuffers * transfer.packetSize
    retained.update { $0.losses.count(mayBeEarly: mayBeEarly) }
    let losses = retained.value.losses.dropped
    guard losses < LegacyDFUPace.ladder.count else {
      throw .blockKeepsFailing(atOffset: transfer.acknowledged, attempts: losses)
    }
    context.observe(.rewound(to: 0, because: .gap))
    try await startOver(.upload, because: .droppedPackets)
  }

  private func report(_ transfer: LegacyDFUTransfer) {
    context.acknowledged(transfer.acknowledged, of: transfer.total)
  }
}
