import OtaflashATT
import OtaflashGATT
import OtaflashWire
import Synchronization

/// SMP on one characteristic: requests go out as Write Commands, in parts where they are longer
/// than one carries, and responses come as notifications. One task receives at a time; requests may
/// be several under way, told apart by their sequence numbers.
final class SMPChannel: Sendable {
  /// The longest time to an answer, and how often a request is sent for it: a server that has no
  /// buffer left drops what is written to it without a word.
  static let answerLimit = Duration.seconds(5)
  static let triesDefault = 3
  /// Between two tries while the server is busy.
  private static let busyPause = Duration.milliseconds(100)
  private static let writersMaximum = 8

  /// A response, and the sequence number of the request that it answers.
  struct Reply: Sendable {
    let sequence: UInt8
    let message: SMPMessage
  }

  private struct State {
    var exchange: SMPExchange
    var reassembly = SMPReassembly()
    /// The first version only for servers that refuse the second, or do not know it.
    var version = SMPVersion.v2
    /// What was not written of a request whose sender was cancelled.
    var unsent: ArraySlice<UInt8> = []
    /// Bytes of the parts of a request, where they fill connection events.
    var eventPart: Int?
  }

  let client: GATTClient
  let clock: any LinkClock
  private let characteristic: DiscoveredCharacteristic
  private let responses: NotificationStream
  private let busyLimit: Duration
  private let state: Mutex<State>
  private let writing = SerialGate(waitersMaximum: SMPChannel.writersMaximum)

  /// Finds the characteristic and subscribes to it.
  init(on client: GATTClient, _ context: UpdateContext) async throws(UpdateFault) {
    self.client = client
    clock = context.clock
    busyLimit = context.options.busyLimit
    state = Mutex(
      State(exchange: SMPExchange(firstSequence: UInt8(context.randomFraction() * 256))))
    do throws(GATTFault) {
      characteristic = try await client.characteristic(
        SMPService.characteristic, in: SMPService.service)
      responses = try await client.subscribe(to: characteristic, as: .notifications)
    } catch .notFound(SMPService.service) {
      throw .noUpdateService
    } catch {
      throw .gatt(.connect, error)
    }
  }

  /// Messages that answered nothing.
  var ignored: SMPExchange.Ignored { state.withLock { $0.exchange.ignored } }

  /// A notification that answers an upload request: header, `rc` and `off`. There is one in each
  /// event.
  private static let uploadAnswer = StreamAnswer(every: nil, pdu: 25)
  /// Bytes of opcode and handle.
  private static let writeHeaderSize = 3

  /// Bytes that one Write Command carries at most.
  var writeMaximum: Int { client.mtu - Self.writeHeaderSize }

  /// Bytes that one Write Command carries when many fill the air best.
  var fragmentSize: Int {
    sizing.bestSize(mtu: ATTMTU(clamping: client.mtu)) - Self.writeHeaderSize
  }

  /// Bytes of the parts that a request is cut into.
  var partSize: Int {
    min(state.withLock { $0.eventPart } ?? fragmentSize, writeMaximum)
  }

  /// From now on the parts of a request fill connection events, beside an answer in each: for an
  /// upload that has several requests under way.
  func fillEvents() {
    let bytes =
      client.bestCommandSize(answers: [Self.uploadAnswer])
      - Self.writeHeaderSize
    state.withLock { $0.eventPart = bytes }
  }

  var sizing: PDUSizing { PDUSizing(client.linkFacts) }

  // MARK: One request, one answer

  /// Performs a request and returns the server's answer.
  ///
  /// - Throws: `.declined` with the server's refusal, `.gatt(_, .timedOut)` when it stays silent,
  ///   `.protocolViolation`.
  func perform<Request: SMPRequest>(
    _ request: Request, _ stage: UpdateStage, within limit: Duration = answerLimit,
    tries: Int = triesDefault
  ) async throws(UpdateFault) -> Request.Response {
    switch try await ask(request, stage, within: limit, tries: tries) {
    case .success(let response): return response
    case .failure(let refusal): throw .declined(stage, refusal.inWords)
    }
  }

  /// Performs a request that the server may refuse. A busy server is asked again.
  func ask<Request: SMPRequest>(
    _ request: Request, _ stage: UpdateStage, within limit: Duration = answerLimit,
    tries: Int = triesDefault
  ) async throws(UpdateFault) -> Result<Request.Response, SMPRefusal> {
    let patience = clock.now.advanced(by: busyLimit)
    while true {
      let result = try await answer(to: request, stage, within: limit, tries: tries)
      guard case .failure(let refusal) = result else { return result }
      if refusal.isTooNew, fallBack() { continue }
      guard refusal.isBusy, clock.now < patience else { return result }
      guard await clock.pause(for: Self.busyPause) else { throw .gatt(stage, .cancelled) }
    }
  }

  private func answer<Request: SMPRequest>(
    to request: Request, _ stage: UpdateStage, within limit: Duration, tries: Int
  ) async throws(UpdateFault) -> Result<Request.Response, SMPRefusal> {
    for _ in 0..<tries {
      let sequence = try await send(request, stage)
      let deadline = clock.now.advanced(by: limit)
      while let reply = try await receive(before: deadline, stage) {
        guard reply.sequence == sequence else { continue }
        return try decoding(stage) {
          () throws(SMPDecodeFault) -> Result<Request.Response, SMPRefusal> in
          try reply.message.answer(to: Request.self)
        }
      }
      forgetAll()
    }
    throw .gatt(stage, .timedOut(after: limit * tries))
  }

  /// Goes on in the first version; `false` when that was in use already.
  private func fallBack() -> Bool {
    state.withLock { state in
      defer { state.version = .v1 }
      return state.version == .v2
    }
  }

  /// In which the requests are sent.
  var version: SMPVersion { state.withLock { $0.version } }

  // MARK: Sending

  /// Sends a request and returns its sequence number. Returns when the transport has all of it.
  func send(
    _ request: some SMPRequest, _ stage: UpdateStage
  ) async throws(UpdateFault) -> UInt8 {
    let command = type(of: request).command
    let (sequence, version) = state.withLock { ($0.exchange.begin(command), $0.version) }
    let message = SMPMessage(request, sequence: sequence, version: version)
    do throws(GATTFault) {
      try await write(message.encoded)
    } catch {
      state.withLock { $0.exchange.forget(sequence) }
      throw .gatt(stage, error)
    }
    return sequence
  }

  /// Writes the parts of one message, one behind the other: a server gathers one message at a time.
  private func write(_ message: [UInt8]) async throws(GATTFault) {
    switch await writing.enter() {
    case .entered: break
    case .cancelled: throw .cancelled
    case .closed, .full: throw .queueFull(limit: Self.writersMaximum)
    }
    defer { writing.leave() }
    try await writeParts(message[...])
  }

  private func writeParts(_ message: ArraySlice<UInt8>) async throws(GATTFault) {
    // What fits one write goes in one: not every server puts requests together.
    let size = message.count <= writeMaximum ? writeMaximum : partSize
    var rest = message
    while !rest.isEmpty {
      do throws(GATTFault) {
        try await client.command(
          encoded: ATTPDU.encodeWriteCommand(characteristic.value, bytes: rest.prefix(size)))
      } catch {
        // A message of which nothing went out leaves nothing to finish.
        let unsent = rest.startIndex == 0 ? [] : rest
        state.withLock { $0.unsent = unsent }
        throw error
      }
      rest = rest.dropFirst(size)
    }
  }

  /// Writes what a cancelled sender left of its message, so that the server does not take the next
  /// host's message for it.
  func finishMessage() async throws(UpdateFault) {
    let unsent = state.withLock { state in
      defer { state.unsent = [] }
      return state.unsent
    }
    do throws(GATTFault) { try await writeParts(unsent) } catch { throw .gatt(.upload, error) }
  }

  // MARK: Receiving

  /// The next answer to a request that is outstanding; `nil` when none came before the deadline.
  /// What answers nothing is ignored and counted.
  func receive(
    before deadline: LinkInstant, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Reply? {
    // A server that never stops talking keeps nobody beyond the deadline.
    while clock.now < deadline, let value = try await nextValue(before: deadline, stage) {
      if let reply = try take(value, stage) { return reply }
    }
    return nil
  }

  /// No answer is expected any more, and no rest of one.
  func forgetAll() {
    state.withLock { state in
      state.exchange.forgetAll()
      state.reassembly.reset()
    }
  }

  private func nextValue(
    before deadline: LinkInstant, _ stage: UpdateStage
  ) async throws(UpdateFault) -> NotificationStream.Element? {
    if let value = responses.poll() { return value }
    let received: NotificationStream.Element?
    do throws(GATTFault) {
      received = try await withDeadline(
        deadline, on: clock, orThrow: .timedOut(after: Self.answerLimit)
      ) { [responses] () async throws(GATTFault) -> NotificationStream.Element? in
        try await responses.next()
      }
    } catch .timedOut {
      return nil
    } catch {
      throw .gatt(stage, error)
    }
    guard let received else { throw .gatt(stage, .linkLost(.closedLocally)) }
    return received
  }

  private func take(
    _ value: NotificationStream.Element, _ stage: UpdateStage
  ) throws(UpdateFault) -> Reply? {
    let answer = state.withLock { state -> (sequence: UInt8, bytes: [UInt8])? in
      if value.lostBefore > 0 { state.reassembly.reset() }
      switch state.reassembly.received(value.value) {
      case .incomplete: return nil
      case .dropped:
        state.exchange.receivedMalformed()
        return nil
      case .message(let header, let bytes):
        guard state.exchange.received(header) else { return nil }
        // Servers of the first version do not look at a request's, and answer in their own.
        if header.version == .v1 { state.version = .v1 }
        return (header.sequence, bytes)
      }
    }
    guard let answer else { return nil }
    return try decoding(stage) { () throws(SMPDecodeFault) -> Reply in
      Reply(sequence: answer.sequence, message: try SMPMessage(decoding: answer.bytes))
    }
  }
}
