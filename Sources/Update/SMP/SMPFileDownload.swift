import OtaflashGATT
import OtaflashWire

/// Reads a file on one connection, with several requests in flight. Each request contains an offset
/// in the file, and the server determines the number of bytes in its response.
struct SMPFileDownload {
  private static let answerLimit = Duration.seconds(5)
  private static let busyPause = Duration.milliseconds(100)

  private let server: SMPFileServer
  private var size: SMPFileReadSize
  private var transfer: SMPTransfer
  private var patience: Patience
  private var advanced: LinkInstant
  /// The bytes received so far, from the start of the file.
  private(set) var received: [UInt8]

  private var context: UpdateContext { server.context }
  private var channel: SMPChannel { server.channel }

  /// The length of the file in bytes.
  var length: Int { transfer.total }

  /// Reads the start of the file. The response also contains the length of the file.
  ///
  /// - Parameter held: the first bytes of the file, from an earlier connection. If the file is now
  ///   shorter or starts with other bytes, reading starts over.
  init(
    from server: SMPFileServer, holding held: [UInt8] = []
  ) async throws(UpdateFault) {
    let first: SMPFiles.Download.Response
    switch try await server.channel.ask(
      SMPFiles.Download(name: server.path, offset: 0), .download,
      within: SMPFileServer.flashLimit)
    {
    case .success(let response): first = response
    case .failure(let refusal) where refusal.isNotSupported:
      throw .declined(.download, .noFileGroup(code: refusal.inWords.code))
    case .failure(let refusal): throw .declined(.download, refusal.inWords)
    }
    guard first.offset == 0, let length = first.length, first.data.count <= length,
      !first.data.isEmpty || length == 0
    else {
      throw .protocolViolation(.download, "its first answer does not contain the start of a file")
    }
    guard length <= SMPFileServer.sizeMaximum else {
      throw .declined(.download, .fileTooLarge(length))
    }
    self.server = server
    let isKept =
      held.count > first.data.count && held.count <= length
      && held.starts(with: first.data)
    received = isKept ? held : first.data
    size = SMPFileReadSize(
      bytes: SMPMessage(SMPFiles.Download(name: server.path, offset: length), sequence: 0)
        .encoded.count,
      chunk: max(1, first.data.count))
    // Each response needs a buffer of the server.
    let width = server.buffers.widthLimit
    transfer = SMPTransfer(
      total: length, startingAt: received.count, unit: .known(1), widthLimit: width, reach: width)
    patience = Patience(with: server.channel.client, server.context)
    advanced = server.context.clock.now
  }

  /// Reads the rest of the file.
  mutating func run() async throws(UpdateFault) {
    acknowledge()
    while !transfer.isComplete {
      if let range = transfer.sendable(size) {
        let request = SMPFiles.Download(name: server.path, offset: range.lowerBound)
        transfer.sent(range, as: try await channel.send(request, .download))
      } else {
        precondition(transfer.isWaiting, "a download that waits for nothing")
        try await waitForAnswer()
      }
    }
  }

  private mutating func waitForAnswer() async throws(UpdateFault) {
    let limit = min(Self.answerLimit * (1 << transfer.silences), SMPFileServer.flashLimit)
    let deadline = context.clock.now.advanced(by: limit)
    guard let reply = try await channel.receive(before: deadline, .download) else {
      channel.forgetAll()
      return report(
        try transfer.timedOut(after: advanced.duration(to: context.clock.now), requestSize: nil))
    }
    let result = try decoding(.download) {
      () throws(SMPDecodeFault) -> Result<SMPFiles.Download.Response, SMPRefusal> in
      try reply.message.answer(to: SMPFiles.Download.self)
    }
    switch result {
    case .success(let response): try take(response, reply.sequence)
    case .failure(let refusal): try await take(refusal, reply.sequence)
    }
  }

  private mutating func take(
    _ part: SMPFiles.Download.Response, _ sequence: UInt8
  ) throws(UpdateFault) {
    guard let range = transfer.range(of: sequence) else { return }
    guard part.offset == range.lowerBound, part.data.count <= length - range.lowerBound else {
      throw .protocolViolation(
        .download,
        "its answer to a request at byte \(range.lowerBound) has \(part.data.count) "
          + "bytes at byte \(part.offset), and the file has \(length) bytes")
    }
    // Bytes after a gap are read again.
    if part.offset == received.count {
      received += part.data.prefix(range.count)
      advanced = context.clock.now
      if part.data.count < range.count { size.chunk = max(1, part.data.count) }
    }
    report(try transfer.answered(sequence, requesting: received.count))
    acknowledge()
  }

  private mutating func take(
    _ refusal: SMPRefusal, _ sequence: UInt8
  ) async throws(UpdateFault) {
    if refusal.isOutOfMemory { return report(try transfer.refused(sequence, isBusy: false)) }
    guard refusal.isBusy else { throw .declined(.download, refusal.inWords) }
    _ = try transfer.refused(sequence, isBusy: true)
    context.observe(.deviceBusy)
    try patience.check(
      Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
    guard await context.clock.pause(for: Self.busyPause) else {
      throw .gatt(.download, .cancelled)
    }
  }

  private mutating func report(_ reaction: SMPTransfer.Reaction) {
    if case .rewound(let offset, let reason) = reaction {
      patience.fellBack(to: offset)
      context.observe(.rewound(to: offset, because: reason))
    }
  }

  private func acknowledge() { context.acknowledged(transfer.acknowledged, of: transfer.total) }
}
