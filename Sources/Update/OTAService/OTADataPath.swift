import OtaflashATT
import OtaflashFirmware
import OtaflashGATT

/// The data path to the device on one connection: the kind of writes, their size, and the maximum
/// number of unacknowledged bytes.
struct OTADataPath: Sendable {
  let client: GATTClient
  let characteristic: DiscoveredCharacteristic
  let info: OTAInfo
  let context: UpdateContext
  let retained: RetainedState<OTARetained>

  /// The write mode that the caller set. For `auto`, the mode depends on the kinds of writes that
  /// the characteristic supports.
  var mode: WriteMode {
    let wanted = context.options.mode
    guard wanted == .auto else { return wanted }
    if !characteristic.properties.contains(.write) { return .withoutResponse }
    return characteristic.properties.contains(.writeWithoutResponse) ? .auto : .withResponse
  }

  // MARK: Limits

  /// The number of content bytes per write, from the options and from the parameters of the link
  /// and the device.
  var chunkSize: Int {
    // With response, each write costs one round trip regardless of its length, so the longest write
    // is the fastest.
    let pdu =
      switch mode {
      case .withResponse: client.mtu
      case .auto, .withoutResponse:
        client.bestCommandSize(
          atMost: info.largestChunk + OTAService.dataHeaderSize + 3,
          header: OTAService.dataHeaderSize, answers: answers)
      }
    let longest = min(info.largestChunk, client.mtu - 3 - OTAService.dataHeaderSize)
    let fitting = context.options.chunk ?? pdu - 3 - OTAService.dataHeaderSize
    return max(1, min(fitting, longest, retained.value.chunkCeiling ?? .max))
  }

  /// The device's messages during a transfer: a Status for each step of the window, and the
  /// response to the request that closes the window.
  private var answers: [StreamAnswer] {
    let window = min(info.bufferSize, context.options.windowLimit ?? .max)
    let statuses = StreamAnswer(every: info.bytesPerStatus, pdu: OTAStatus.size + 3)
    let responses = StreamAnswer(every: window, pdu: 1)
    return mode == .auto ? [statuses, responses] : [statuses]
  }

  /// The maximum number of unacknowledged bytes; `nil` if only the device limits them.
  var windowLimit: Int? {
    [context.options.windowLimit, retained.value.windowCeiling].compactMap(\.self).min()
  }

  /// Limits the length of writes on this connection and later connections, because the device does
  /// not accept longer writes.
  func limitChunks(to bytes: Int) { retained.update { $0.chunkCeiling = bytes } }

  /// Halves the window for the next connection: the transport may buffer more bytes than a slow
  /// link carries in the 30 s before a request times out.
  func narrowWindow(after transfer: OTATransfer) {
    let unanswered = transfer.next - transfer.acknowledged
    guard unanswered > transfer.chunk else { return }
    retained.update { $0.windowCeiling = max(transfer.chunk, unanswered / 2) }
  }

  // MARK: Writes

  /// Sends each range that `next` returns in one command, until `next` returns `nil`.
  func sendCommands(
    of bytes: PrefixChecksums, _ next: () -> Range<Int>?
  ) async throws(GATTFault) {
    try await client.sendCommands { pdu in
      guard let range = next() else { return false }
      context.meter?.beginWriting(context.clock)
      context.sent(range.count)
      ATTPDU.encodeWriteCommand(
        characteristic.value, prefix: UInt32(range.lowerBound), bytes: bytes.bytes[range],
        into: &pdu)
      return true
    } afterWait: { time in
      context.meter?.waited(time, for: .transport)
    }
  }

  /// Writes a range with a request and waits for its response.
  func write(_ range: Range<Int>, of bytes: PrefixChecksums) async throws(GATTFault) {
    context.sent(range.count)
    context.meter?.beginWriting(context.clock)
    let wait = context.meter?.begin(context.clock)
    try await client.write(encoded: request(range, of: bytes), to: characteristic)
    if let wait { context.meter?.waited(wait, for: .response) }
  }

  /// Sends the write that closes a window as a request, without waiting for the response. Returns
  /// `nil` and sends nothing if another request is open.
  func beginCheckpoint(
    _ range: Range<Int>, of bytes: PrefixChecksums
  ) async throws(GATTFault) -> OTACheckpoint? {
    context.meter?.beginWriting(context.clock)
    let began = context.meter?.begin(context.clock)
    let encoded = request(range, of: bytes)
    guard let write = try await client.beginWrite(encoded: encoded, to: characteristic) else {
      return nil
    }
    context.sent(range.count)
    return OTACheckpoint(range: range, write: write, began: began)
  }

  /// Processes the outcome of a checkpoint.
  ///
  /// - Throws: the fault of the request.
  func settle(
    _ checkpoint: OTACheckpoint, _ outcome: Result<Void, GATTFault>, of bytes: PrefixChecksums
  ) async throws(GATTFault) {
    do throws(GATTFault) {
      try outcome.get()
      if let began = checkpoint.began { context.meter?.answered(began) }
    } catch .refused(_, let code) where client.security.raised(after: code) != nil {
      // Like any request, this request raises the link's security; the commands sent after the
      // refused request are lost.
      try await client.write(encoded: request(checkpoint.range, of: bytes), to: characteristic)
    }
  }

  private func request(_ range: Range<Int>, of bytes: PrefixChecksums) -> [UInt8] {
    ATTPDU.encodeWriteRequest(
      characteristic.value, prefix: UInt32(range.lowerBound), bytes: bytes.bytes[range])
  }
}

/// An unanswered Write Request that closed a window.
struct OTACheckpoint {
  let range: Range<Int>
  let write: PendingRequest
  fileprivate let began: TransferMeter.Wait?
}
