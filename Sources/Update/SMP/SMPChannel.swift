import OtaflashATT
import OtaflashGATT
import OtaflashWire
import Synchronization

/// SMP on one characteristic. Requests are Write Commands, fragmented if they are longer than one
/// write; responses are notifications. One task receives at a time. Several requests may be in
/// flight, and are distinguished by their sequence numbers.
final class SMPChannel: Sendable {
  /// The time limit for the response to one transmission of a request: a server without a free
  /// buffer drops the request silently.
  static let answerLimit = Duration.seconds(5)
  static let triesDefault = 3
  /// The time between two attempts while the server is busy.
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
    /// The version of requests: version 1 only for servers that do not support version 2.
    var version = SMPVersion.v2
    /// The unsent rest of a request whose sending failed or was cancelled.
    var unsent: ArraySlice<UInt8> = []
    /// The fragment size of a request, if fragments are to fill connection events.
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

  /// The numbers of messages that answered no request, by kind.
  var ignored: SMPExchange.Ignored { state.withLock { $0.exchange.ignored } }

  /// A notification that answers an upload request and contains the header, `rc` and `off`. Each
  /// connection event carries one such notification.
  private static let uploadAnswer = StreamAnswer(every: nil, pdu: 25)
  /// The size of opcode and handle in bytes.
  private static let writeHeaderSize = 3

  /// The maximum value length of one Write Command in bytes.
  var writeMaximum: Int { client.mtu - Self.writeHeaderSize }

  /// The value length, in bytes, of the Write Commands that reach the highest rate.
  var fragmentSize: Int {
    sizing.bestSize(mtu: ATTMTU(clamping: client.mtu)) - Self.writeHeaderSize
  }

  /// The fragment size of a request.
  var partSize: Int {
    min(state.withLock { $0.eventPart } ?? fragmentSize, writeMaximum)
  }

  /// Makes the fragments of later requests fill connection events that carry one response each, for
  /// an upload with several requests in flight.
  func fillEvents() {
    let bytes =
      client.bestCommandSize(answers: [Self.uploadAnswer])
      - Self.writeHeaderSize
    state.withLock { $0.eventPart = bytes }
  }

  var sizing: PDUSizing { PDUSizing(client.linkFacts) }

  // MARK: One request, one answer

  /// Performs a request, and returns the server's response.
  ///
  /// - Throws: `.declined` with the server's refusal, `.gatt` for a failure of the link
  ///   (`.timedOut` if there is no response), `.protocolViolation`.
  func perform<Request: SMPRequest>(
    _ request: Request, _ stage: UpdateStage, within limit: Duration = answerLimit,
    tries: Int = triesDefault
  ) async throws(UpdateFault) -> Request.Response {
    switch try await ask(request, stage, within: limit, tries: tries) {
    case .success(let response): return response
    case .failure(let refusal): throw .declined(stage, refusal.inWords)
    }
  }

  /// Performs a request that the server may refuse, and repeats it while the server is busy, within
  /// `UpdateOptions.busyLimit`.
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

  /// Switches to version 1. Returns `false` if version 1 was already in use.
  private func fallBack() -> Bool {
    state.withLock { state in
      defer { state.version = .v1 }
      return state.version == .v2
    }
  }

  /// The version of the requests.
  var version: SMPVersion { state.withLock { $0.version } }

  // MARK: Sending

  /// Sends a request, and returns its sequence number after the transport has accepted the complete
  /// request.
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

  /// Writes the fragments of one message in sequence, because a server reassembles one message at a
  /// time.
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
    // A message that fits one write is not fragmented, because not every server reassembles
    // requests.
    let size = message.count <= writeMaximum ? writeMaximum : partSize
    var rest = message
    while !rest.isEmpty {
      do throws(GATTFault) {
        try await client.command(
          encoded: ATTPDU.encodeWriteCommand(characteristic.value, bytes: rest.prefix(size)))
      } catch {
        // If no fragment was sent, there is nothing to finish.
        let unsent = rest.startIndex == 0 ? [] : rest
        state.withLock { $0.unsent = unsent }
        throw error
      }
      rest = rest.dropFirst(size)
    }
  }

  /// Writes the rest of an incompletely sent message, so that the server does not combine the
  /// message with the message of the next host.
  func finishMessage() async throws(UpdateFault) {
    let unsent = state.withLock { state in
      defer { state.unsent = [] }
      return state.unsent
    }
    do throws(GATTFault) { try await writeParts(unsent) } catch { throw .gatt(.upload, error) }
  }

  // MARK: Receiving

  /// Returns the next response to an outstanding request; `nil` if none arrived before the
  /// deadline. Other messages are counted and ignored.
  func receive(
    before deadline: LinkInstant, _ stage: UpdateStage
  ) async throws(UpdateFault) -> Reply? {
    // A server that never stops sending cannot extend the deadline.
    while clock.now < deadline, let value = try await nextValue(before: deadline, stage) {
      if let reply = try take(value, stage) { return reply }
    }
    return nil
  }

  /// Stops waiting for all responses, and drops a partly received message.
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
        // Servers of version 1 ignore the version of a request, and respond in version 1.
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
