import OtaflashATT
import OtaflashGATT
import OtaflashWire

/// Sends the bytes of one upload after its first request, in the window that `SMPTransfer`
/// computes.
struct SMPUpload {
  /// The time limit for the response to an upload request after the first. On a slow link, a long
  /// request takes longer, so the limit doubles after each silence, up to the limit of the first
  /// request.
  private static let answerLimit = Duration.seconds(5)
  /// The number of connection intervals in a round trip, plus one for a missed event.
  private static let roundTripIntervals = 3
  /// The maximum number of image bytes of a short request, for which a fault does not suggest
  /// shorter requests.
  private static let shortData = 64
  private static let busyPause = Duration.milliseconds(100)

  private let image: [UInt8]
  private let size: SMPPacketSize
  private let channel: SMPChannel
  private let context: UpdateContext
  private var transfer: SMPTransfer
  private var matches: Bool?
  private var patience: Patience
  /// The time of the last new maximum offset, or of the start of the upload.
  private var advanced: LinkInstant
  private var furthest: Int

  init(of image: [UInt8], _ begun: SMPUploadStart, over session: SMPSession) {
    self.image = image
    size = begun.size
    channel = session.channel
    context = session.context
    matches = begun.matches
    patience = Patience(with: channel.client, context)
    advanced = context.clock.now
    furthest = begun.offset
    let wish = max(1, (context.options.windowLimit ?? .max) / max(1, size.data(at: image.count)))
    let buffers = session.facts.buffers
    transfer = SMPTransfer(
      total: image.count, startingAt: begun.offset, unit: begun.unit,
      widthLimit: min(buffers.widthLimit, wish),
      reach: min(buffers.reach(ofRequests: size.bytes, over: channel), wish))
  }

  /// Sends the image, and returns when the server has all bytes. Returns `false` if the server
  /// reports that it holds other content.
  mutating func run() async throws(UpdateFault) -> Bool {
    // Requests are Write Commands, even if each request waits for the response to the previous one.
    try await context.measuring(.withoutResponse, over: channel.client) {
      () async throws(UpdateFault) -> Bool in try await sendAll()
    }
  }

  private mutating func sendAll() async throws(UpdateFault) -> Bool {
    acknowledge()
    while !transfer.isComplete {
      if let range = transfer.sendable(size) {
        try await send(range)
      } else {
        precondition(transfer.isWaiting, "an upload that waits for nothing")
        try await waitForAnswer()
      }
    }
    return matches ?? true
  }

  private mutating func send(_ range: Range<Int>) async throws(UpdateFault) {
    let request = SMPImage.Upload(
      offset: range.lowerBound, data: Array(image[range]),
      announcement: range.lowerBound == 0 ? size.announcement : nil)
    context.sent(range.count)
    let sequence = try await context.waiting(for: .transport) {
      () async throws(UpdateFault) -> UInt8 in try await channel.send(request, .upload)
    }
    transfer.sent(range, as: sequence)
  }

  private mutating func waitForAnswer() async throws(UpdateFault) {
    let later = Self.answerLimit * (1 << transfer.silences)
    let limit =
      transfer.awaitsFirst ? SMPSession.eraseLimit : min(later, SMPSession.eraseLimit)
    let deadline = context.clock.now.advanced(by: limit)
    let wait = context.meter?.begin(context.clock)
    let received = try await channel.receive(before: deadline, .upload)
    if let wait { context.meter?.waited(wait, for: waitCause(wait)) }
    guard let reply = received else {
      channel.forgetAll()
      let waited = advanced.duration(to: context.clock.now)
      let isLong =
        size.data(
          at: transfer.acknowledged, of: transfer.total, to: transfer.unit) > Self.shortData
      return report(
        try transfer.timedOut(after: waited, requestSize: isLong ? size.bytes : nil))
    }
    let result = try decoding(.upload) {
      () throws(SMPDecodeFault) -> Result<SMPImage.Upload.Response, SMPRefusal> in
      try reply.message.answer(to: SMPImage.Upload.self)
    }
    switch result {
    case .success(let response): try take(response, reply.sequence)
    case .failure(let refusal): try await take(refusal, reply.sequence)
    }
  }

  /// Returns the cause of a wait. The server writes received data before it responds, so a response
  /// that takes longer than the link explains counts as a wait for flash.
  private func waitCause(_ wait: TransferMeter.Wait) -> TransferMeter.Cause {
    guard let interval = channel.client.linkFacts.connectionInterval else { return .device }
    let rate = channel.sizing.eventPackedRate(
      size: channel.partSize, intervalMicroseconds: Int(interval / .microseconds(1)))
    guard rate > 0 else { return .device }
    let air = Double(size.bytes * transfer.width) / rate
    let explained = interval * Self.roundTripIntervals + .seconds(air)
    return wait.time > explained ? .flash : .device
  }

  private mutating func take(
    _ response: SMPImage.Upload.Response, _ sequence: UInt8
  ) throws(UpdateFault) {
    guard let offset = response.offset else {
      throw .protocolViolation(.upload, "its answer to an upload has no offset")
    }
    matches = response.matches
    report(try transfer.answered(sequence, requesting: offset))
    acknowledge()
  }

  private mutating func take(
    _ refusal: SMPRefusal, _ sequence: UInt8
  ) async throws(UpdateFault) {
    if refusal.isOutOfMemory { return report(try transfer.refused(sequence, isBusy: false)) }
    guard refusal.isBusy else { throw .declined(.upload, refusal.inWords) }
    _ = try transfer.refused(sequence, isBusy: true)
    context.observe(.deviceBusy)
    try patience.check(
      Patience.Marks(acknowledged: transfer.acknowledged), at: context.clock.now)
    guard await context.clock.pause(for: Self.busyPause) else { throw .gatt(.upload, .cancelled) }
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
    }
    context.acknowledged(transfer.acknowledged, of: transfer.total)
  }
}
