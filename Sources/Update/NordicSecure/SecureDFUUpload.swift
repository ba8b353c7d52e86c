import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// Sends an image to a bootloader, object by object.
extension SecureDFUBootloader {
  /// Uploads the image, after reading the progress again, because only the response of the
  /// bootloader shows which object is open.
  func upload(_ image: PrefixChecksums) async throws(UpdateFault) {
    try await context.measuring(.withoutResponse, over: client) { () async throws(UpdateFault) in
      try await sendAll(image)
    }
  }

  private func sendAll(_ image: PrefixChecksums) async throws(UpdateFault) {
    let packetSize = packetSize
    let receipts = SecureDFUReceipts(packetSize: packetSize)
    try await control.perform(
      .setReceiptNotification(packets: UInt16(receipts.interval)), .upload)
    let selection = try await control.select(.data, .upload)
    var transfer = SecureDFUTransfer(
      image: image,
      objects: SecureDFUObjects(
        total: image.count, objectSize: selection.sizeMaximum, packetSize: packetSize),
      receipts: receipts, standing: SecureDFUResumeState(selection, of: image))
    var patience = Patience(with: client, context)
    while true {
      let step = transfer.step(at: context.clock.now)
      if step == .complete { break }
      let before = transfer.acknowledged
      try await perform(step, of: image, &transfer)
      report(transfer, of: image.count)
      if transfer.acknowledged < before { patience.fellBack(to: transfer.acknowledged) }
      if case .send = step { continue }
      try patience.check(
        Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
    }
  }

  private func perform(
    _ step: SecureDFUTransfer.Step, of image: PrefixChecksums, _ transfer: inout SecureDFUTransfer
  ) async throws(UpdateFault) {
    switch step {
    case .create(let size):
      try await context.waiting(for: .flash) { () async throws(UpdateFault) in
        try await create(size, &transfer)
      }
    case .send(let packet):
      while let notice = try control.poll(.upload) { try take(notice, &transfer) }
      // A notification may have changed the next step.
      guard transfer.step(at: context.clock.now) == step else { return }
      transfer.sent(packet)
      try await context.waiting(for: .transport) { () async throws(UpdateFault) in
        try await send(image.bytes[packet], .upload)
      }
    case .waitForErase(let erased):
      try await context.waiting(for: .flash) { () async throws(UpdateFault) in
        guard await context.clock.pause(until: erased) else { throw .gatt(.upload, .cancelled) }
      }
    case .waitForReceipt:
      try await context.waiting(for: .device) { () async throws(UpdateFault) in
        try await waitForReceipt(&transfer)
      }
    case .askChecksum:
      let progress = try await context.waiting(for: .device) {
        () async throws(UpdateFault) -> SecureDFUProgress in try await control.checksum(.upload)
      }
      react(to: try transfer.checked(progress))
    case .execute:
      try await context.waiting(for: .flash) { () async throws(UpdateFault) in
        try await execute()
      }
      transfer.executed()
    case .complete: break
    }
  }

  private func create(
    _ size: Int, _ transfer: inout SecureDFUTransfer
  ) async throws(UpdateFault) {
    let answer = try await control.exchange(.create(.data, size: UInt32(size)), .upload)
    switch answer {
    case .done: transfer.created(at: context.clock.now)
    case .refused(_, .result(.operationFailed))
    where transfer.creationFailed(at: context.clock.now): return
    case .refused(_, let refusal): throw .declined(.upload, refusal.inWords())
    case .selected, .progress: throw SecureDFUControl.unexpected(answer.opcode, .upload)
    }
  }

  /// Executes an object that is not the last. Its checksum matched, so the result "not permitted"
  /// means that the object was already executed. If it was not executed, the checksum of the next
  /// object reveals this.
  private func execute() async throws(UpdateFault) {
    switch try await control.exchange(.execute, .upload) {
    case .done, .refused(_, .result(.operationNotPermitted)): return
    case .refused(_, let refusal): throw .declined(.upload, refusal.inWords())
    case .selected, .progress: throw SecureDFUControl.unexpected(.execute, .upload)
    }
  }

  /// Writes one packet, and returns when the transport has accepted it.
  func send(_ bytes: ArraySlice<UInt8>, _ stage: UpdateStage) async throws(UpdateFault) {
    do throws(GATTFault) {
      try await client.command(
        encoded: ATTPDU.encodeWriteCommand(packet.value, bytes: bytes))
    } catch {
      throw .gatt(stage, error)
    }
    if stage == .upload { context.sent(bytes.count) }
  }

  private func waitForReceipt(_ transfer: inout SecureDFUTransfer) async throws(UpdateFault) {
    let limit = context.options.silenceLimit
    let silence = UpdateFault.gatt(.upload, .timedOut(after: limit))
    do throws(UpdateFault) {
      let notice = try await withDeadline(
        context.clock.now.advanced(by: limit), on: context.clock, orThrow: silence
      ) { () async throws(UpdateFault) -> SecureDFUResponse in try await control.next(.upload) }
      try take(notice, &transfer)
    } catch silence {
      transfer.doubt()
    }
  }

  /// Processes a notification of the bootloader while packets are being sent.
  private func take(
    _ notice: SecureDFUResponse, _ transfer: inout SecureDFUTransfer
  ) throws(UpdateFault) {
    switch notice {
    case .progress(let progress): react(to: try transfer.received(receipt: progress))
    case .refused: transfer.doubt()
    // This is a late response to a repeated operation.
    case .done, .selected: break
    }
  }

  private func react(to reaction: SecureDFUTransfer.Reaction) {
    guard case .again(let offset) = reaction else { return }
    context.observe(.rewound(to: offset, because: .blockChecksum))
  }

  private func report(_ transfer: SecureDFUTransfer, of total: Int) {
    context.acknowledged(transfer.acknowledged, of: total)
  }
}
