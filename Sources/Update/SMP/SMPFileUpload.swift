import OtaflashGATT
import OtaflashWire

/// Sends the bytes of a file on one connection, in the window that `SMPTransfer` computes.
///
/// A server writes a request only at the end of the file, and otherwise closes the file. After a
/// loss, the host therefore waits until all requests in flight are answered, closes the file, and
/// asks for its length (Zephyr, `fs_mgmt.c`).
struct SMPFileUpload {
  enum Outcome: Equatable, Sendable {
    case complete
    /// The file on the device does not have the length of a sent part, or the server accepts only a
    /// new upload after this refusal.
    case startOver(because: SMPRefusal?)
  }

  private static let answerLimit = Duration.seconds(5)
  private static let busyPause = Duration.milliseconds(100)
  /// The maximum number of requests at offset 0.
  private static let firstTries = 3

  private let file: [UInt8]
  private let server: SMPFileServer
  private let size: SMPFileWriteSize
  private var transfer: SMPTransfer
  private var patience: Patience
  private var advanced: LinkInstant
  private var furthest: Int
  /// The first refused request since the last request that was written.
  private var refused: (offset: Int, refusal: SMPRefusal)?

  private var context: UpdateContext { server.context }
  private var channel: SMPChannel { server.channel }

  // MARK: The first request

  /// Sends the first request, which replaces an existing file. Returns the number of file bytes in
  /// the request.
  ///
  /// A second request at offset 0 to an open file appends its data. The file is therefore closed
  /// before each of these requests.
  static func begin(
    _ file: [UInt8], on server: SMPFileServer
  ) async throws(UpdateFault) -> Int {
    let size = try writeSize(for: file, on: server)
    let first = file.prefix(size.data(at: 0, of: file.count, to: .known(1)))
    let request = SMPFiles.Upload(
      name: server.path, offset: 0, data: Array(first), length: file.count)
    for _ in 0..<firstTries {
      try await server.close(.upload)
      server.context.sent(first.count)
      do throws(UpdateFault) {
        let result = try await server.channel.ask(
          request, .upload, within: SMPFileServer.flashLimit, tries: 1)
        switch result {
        case .success(let response) where response.offset == first.count: return first.count
        case .success: continue
        case .failure(let refusal) where refusal.isNotSupported:
          throw UpdateFault.declined(.upload, .noFileGroup(code: refusal.inWords.code))
        case .failure(let refusal): throw UpdateFault.declined(.upload, refusal.inWords)
        }
      } catch {
        guard case .gatt(_, .timedOut) = error else { throw error }
      }
    }
    throw .stalled(
      atOffset: 0, waited: SMPFileServer.flashLimit * firstTries, requestSize: nil)
  }

  private static func writeSize(
    for file: [UInt8], on server: SMPFileServer
  ) throws(UpdateFault) -> SMPFileWriteSize {
    let least = SMPFileWriteSize.least(for: server.path, total: file.count)
    let bytes = server.buffers.requestMaximum(over: server.channel, least: least)
    guard bytes >= least else { throw .declined(.prepare, .pathTooLong(bytes, least: least)) }
    return SMPFileWriteSize(bytes: bytes, path: server.path)
  }

  // MARK: The rest

  /// - Parameter offset: the length of the file on the device, 1 or more.
  init(
    of file: [UInt8], from offset: Int, on server: SMPFileServer
  ) throws(UpdateFault) {
    self.file = file
    self.server = server
    size = try Self.writeSize(for: file, on: server)
    let buffers = server.buffers
    transfer = SMPTransfer(
      total: file.count, startingAt: offset, unit: .known(1), widthLimit: buffers.widthLimit,
      reach: buffers.reach(ofRequests: size.bytes, over: server.channel))
    patience = Patience(with: server.channel.client, server.context)
    advanced = server.context.clock.now
    furthest = offset
  }

  /// The offset after the last byte that was sent, or that was on the device before.
  var sentEnd: Int { transfer.sentEnd }

  /// Sends the rest of the file.
  mutating func run() async throws(UpdateFault) -> Outcome {
    acknowledge()
    while !transfer.isComplete {
      if transfer.needsOffset {
        guard try await recover() else { return .startOver(because: refused?.refusal) }
      } else if let range = transfer.sendable(size) {
        try await send(range)
      } else {
        precondition(transfer.isWaiting, "an upload that waits for nothing")
        try await waitForAnswer()
      }
    }
    return .complete
  }

  private mutating func send(_ range: Range<Int>) async throws(UpdateFault) {
    context.sent(range.count)
    let request = SMPFiles.Upload(
      name: server.path, offset: range.lowerBound, data: Array(file[range]))
    transfer.sent(range, as: try await channel.send(request, .upload))
  }

  private mutating func waitForAnswer() async throws(UpdateFault) {
    let limit = min(Self.answerLimit * (1 << transfer.silences), SMPFileServer.flashLimit)
    let deadline = context.clock.now.advanced(by: limit)
    guard let reply = try await channel.receive(before: deadline, .upload) else {
      channel.forgetAll()
      transfer.fellSilent()
      return
    }
    let result = try decoding(.upload) {
      () throws(SMPDecodeFault) -> Result<SMPFiles.Upload.Response, SMPRefusal> in
      try reply.message.answer(to: SMPFiles.Upload.self)
    }
    switch result {
    case .success(let response):
      guard let offset = response.offset else {
        throw .protocolViolation(.upload, "its answer to an upload has no offset")
      }
      report(try transfer.answered(reply.sequence, requesting: offset))
      acknowledge()
    case .failure(let refusal): try await take(refusal, reply.sequence)
    }
  }

  private mutating func take(
    _ refusal: SMPRefusal, _ sequence: UInt8
  ) async throws(UpdateFault) {
    if refusal.isOutOfMemory { return report(try transfer.refused(sequence, isBusy: false)) }
    if refusal.isBusy {
      _ = try transfer.refused(sequence, isBusy: true)
      context.observe(.deviceBusy)
      try patience.check(
        Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
      guard await context.clock.pause(for: Self.busyPause) else { throw .gatt(.upload, .cancelled) }
      return
    }
    guard refusal.isOffsetNotValid else { throw .declined(.upload, refusal.inWords) }
    if refused == nil, let offset = transfer.range(of: sequence)?.lowerBound {
      refused = (offset, refusal)
    }
    transfer.discarded(sequence)
  }

  /// Asks for the length of the file after a loss, and resumes there. Returns `false` if the file
  /// must be sent from its start: the length is not the length of a sent part, or the server has
  /// lost the state of the upload.
  private mutating func recover() async throws(UpdateFault) -> Bool {
    let hasFallenSilent = transfer.silences > 0
    do throws(UpdateFault) {
      try await server.close(.upload)
      let length = try await server.length(.upload)
      guard let length, length > 0, length <= transfer.sentEnd else { return false }
      // The server refused a request at the end of the file, so the offset is not the reason.
      // mcumgr of 2021 loses the state of the upload in a restart, and accepts only a new upload.
      if let refused, refused.offset == length, refused.refusal.isGeneral {
        if refused.refusal.isInvalid { return false }
        throw UpdateFault.declined(.upload, refused.refusal.inWords)
      }
      refused = nil
      report(try transfer.resume(at: length))
      acknowledge()
      return true
    } catch {
      switch error {
      case .gatt(_, .timedOut): throw stalled
      case .noProgress where hasFallenSilent: throw stalled
      default: throw error
      }
    }
  }

  private var stalled: UpdateFault {
    .stalled(
      atOffset: transfer.acknowledged, waited: advanced.duration(to: context.clock.now),
      requestSize: nil)
  }

  private mutating func report(_ reaction: SMPTransfer.Reaction) {
    if case .rewound(let offset, let reason) = reaction {
      patience.fellBack(to: offset)
      context.observe(.rewound(to: offset, because: reason))
    }
  }

  private mutating func acknowledge() {
    if transfer.acknowledged > furthest {
      furthest = transfer.acknowledged
      advanced = context.clock.now
      refused = nil
    }
    context.acknowledged(transfer.acknowledged, of: transfer.total)
  }
}
