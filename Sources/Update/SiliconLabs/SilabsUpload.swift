import OtaflashATT
import OtaflashGATT

/// Sends a GBL file in Write Commands, with a Write Request at intervals.
extension SilabsReceiver {
  func upload(_ file: [UInt8]) async throws(UpdateFault) {
    try await context.measuring(pace.isLossless ? .withResponse : .auto, over: channel.client) {
      () async throws(UpdateFault) in
      var patience = Patience(with: channel.client, context, longer: context.options.busyLimit)
      while try await !send(file) {
        // The device still erases its storage.
        try patience.check(Patience.Marks(), at: context.clock.now)
        try await context.waiting(for: .flash) { () async throws(UpdateFault) in
          try await rest(Self.retryTime * 2, .upload)
          try await begin(.upload)
        }
      }
    }
  }

  /// Sends the file. Returns `false` if the device refused the first write because it is not ready.
  private func send(_ file: [UInt8]) async throws(UpdateFault) -> Bool {
    var transfer = SilabsTransfer(total: file.count, chunk: chunk, pace: pace)
    var pending: PendingRequest?
    defer { pending?.abandon() }
    var patience = Patience(with: channel.client, context)
    while true {
      if let outcome = pending?.poll() {
        pending = nil
        if case .failure(let fault) = outcome {
          if isNotReady(fault, transfer) { return false }
          try refused(fault, transfer)
        }
        transfer.answered()
        context.acknowledged(transfer.acknowledged, of: transfer.total)
        try patience.check(
          Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
      }
      switch transfer.step {
      case .complete: return true
      case .command(let range):
        transfer.sent(range, isRequest: false)
        context.sent(range.count)
        try await command(file[range])
      case .request(let range):
        transfer.sent(range, isRequest: true)
        context.sent(range.count)
        pending = try await beginWrite(file[range])
      case .wait:
        guard let open = pending else {
          throw .protocolViolation(.upload, "no response is due, but no data may be sent")
        }
        try await context.waiting(for: .device) { () async throws(UpdateFault) in
          do throws(GATTFault) { try await open.arrival() } catch { throw .gatt(.upload, error) }
        }
      }
    }
  }

  private func command(_ bytes: ArraySlice<UInt8>) async throws(UpdateFault) {
    try await context.waiting(for: .transport) { () async throws(UpdateFault) in
      do throws(GATTFault) { try await channel.command(bytes) } catch {
        throw .gatt(.upload, error)
      }
    }
  }

  private func beginWrite(_ bytes: ArraySlice<UInt8>) async throws(UpdateFault) -> PendingRequest {
    do throws(GATTFault) { return try await channel.beginWrite(bytes) } catch {
      throw fault(error, .upload)
    }
  }

  /// Whether the first write was refused because the device is not ready: an application answers
  /// the start of a transfer with success even while it erases its storage.
  private func isNotReady(_ fault: GATTFault, _ transfer: SilabsTransfer) -> Bool {
    guard case .refused(_, ATTErrorCode(0x81)) = fault else { return false }
    return party == .storage && transfer.acknowledged == 0
  }

  private func refused(_ fault: GATTFault, _ transfer: SilabsTransfer) throws(UpdateFault) -> Never
  {
    // The first write is acknowledged separately, so it was not dropped.
    if transfer.acknowledged > 0, mayBeLoss(fault) { try startSlower(.upload) }
    throw self.fault(fault, .upload)
  }
}
