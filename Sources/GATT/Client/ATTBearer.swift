import OtaflashATT
import Synchronization

/// The client end of one ATT bearer (Core 5.4, Vol 3, Part F, 3.3). It permits one outstanding
/// request, applies the 30 s transaction timeout, confirms indications, and responds to the
/// requests of the peer.
///
/// The owner of a bearer must run exactly one task in `run()` as long as the link lives; every
/// other method may be called from any task. When the link ends, every pending wait fails
/// immediately.
package final class ATTBearer: Sendable {
  /// The maximum number of responses and confirmations that wait to be sent. The protocol permits
  /// one response and one confirmation at a time, so a peer that causes more violates the protocol.
  private static let answersMaximum = 16
  /// The maximum number of tasks that wait at each gate.
  private static let requestersMaximum = 256
  /// The pause before a retry when the queue is full.
  static let roomPause = Duration.milliseconds(100)

  typealias Answer = OneShot<Result<ATTResponse, GATTFault>>
  typealias Responses = Mailbox<Result<ATTResponse, GATTFault>>

  /// The state is internal, like the gates, because several files implement the bearer.
  struct State {
    var receiveMTU: ReceiveMTU
    var slot = RequestSlot()
    var pending: (handle: AttributeHandle, recipient: ResponseRecipient)?
    var mtu = ATTMTU.default
    var ended: GATTFault?
    /// Whether the caller of the open request has stopped waiting for the response.
    var isAbandoned = false
    /// Whether the MTU exchange, which a connection permits only once, was sent.
    var hasAskedMTU = false
    var subscriptions = SubscriptionLedger()
    var serviceChangedHandle: AttributeHandle?
    var attributesChanged = 0
  }

  package let link: any Link
  let clock: any LinkClock
  private let transactionTimeout: Duration
  let state: Mutex<State>
  let requestGate = SerialGate(waitersMaximum: ATTBearer.requestersMaximum)
  let sendGate = SerialGate(waitersMaximum: ATTBearer.requestersMaximum)
  /// Permits one change at a time to the state shared with the peer: the MTU or a configuration.
  let settingsGate = SerialGate(waitersMaximum: ATTBearer.requestersMaximum)
  let answers = Mailbox<ATTPDU>(capacity: ATTBearer.answersMaximum)
  /// Wakes the task that sends without a waiting caller.
  let upkeep = Mailbox<Void>(capacity: 1)

  /// - Parameters:
  ///   - receiveMTU: the MTU in the response to a peer that sends an Exchange MTU Request before
  ///     `exchangeMTU`.
  ///   - transactionTimeout: 30 s by the specification; shorter only for tests and diagnosis.
  package init(
    link: any Link, clock: any LinkClock, receiveMTU: ATTMTU = .maximum,
    transactionTimeout: Duration = .seconds(30)
  ) {
    self.link = link
    self.clock = clock
    state = Mutex(State(receiveMTU: .intended(receiveMTU)))
    self.transactionTimeout = transactionTimeout
  }

  /// ATT_MTU in bytes, valid for both directions.
  package var mtu: Int { state.withLock { $0.mtu.bytes } }

  /// Whether a request without a waiting caller occupies the slot, so that every later request
  /// waits for the response to it.
  var isHeldUp: Bool { state.withLock { $0.isAbandoned } }

  /// The reason the bearer ended, or `nil` while it is alive.
  package var ended: GATTFault? { state.withLock { $0.ended } }

  // MARK: The task of the bearer

  /// Serves the bearer until the link ends, and returns the reason.
  package func run() async -> GATTFault {
    let cause = await withTaskGroup(of: GATTFault.self, returning: GATTFault.self) { group in
      group.addTask { await self.receiveAll() }
      group.addTask { await self.sendAnswers() }
      group.addTask { await self.watchTransactions() }
      guard let first = await group.next() else { preconditionFailure("the group has children") }
      // When one task ends, the other tasks end too. Closing the link ends waits that cancellation
      // does not end.
      end(because: first)
      group.cancelAll()
      return first
    }
    return cause
  }

  /// Closes the link. Every wait fails with the first cause.
  package func end(because cause: GATTFault) {
    let (pending, observers) = state.withLock {
      state -> (ResponseRecipient?, [NotificationObserver]) in
      if state.ended == nil { state.ended = cause }
      state.slot.poison()
      defer {
        state.pending = nil
      }
      return (state.pending?.recipient, state.subscriptions.end())
    }
    pending?.take(.failure(cause))
    for observer in observers { observer.finish(because: cause) }
    requestGate.close()
    sendGate.close()
    settingsGate.close()
    answers.finish()
    upkeep.finish()
    link.close()
  }

  private func receiveAll() async -> GATTFault {
    while true {
      do throws(LinkLoss) {
        let bytes = try await link.receive()
        if let fault = handle(bytes) { return fault }
      } catch {
        return .linkLost(error)
      }
    }
  }

  private func sendAnswers() async -> GATTFault {
    while let answer = await answers.next() {
      do throws(GATTFault) { try await transmit(answer.encoded) } catch { return error }
    }
    return state.withLock { $0.ended } ?? .linkLost(.closedLocally)
  }

  /// Checks the deadline of the open request at least once per timeout, so that no request lasts
  /// longer than two timeouts.
  private func watchTransactions() async -> GATTFault {
    while true {
      let deadline =
        state.withLock { $0.slot.deadline } ?? clock.now.advanced(by: transactionTimeout)
      guard await clock.pause(until: deadline) else { return .linkLost(.closedLocally) }
      let now = clock.now
      let expired = state.withLock { state in
        let expired = state.slot.expired(at: now)
        if expired { state.ended = state.ended ?? .transactionTimedOut }
        return expired
      }
      if expired { return .transactionTimedOut }
    }
  }

  // MARK: Sending

  /// Sends one request and returns its response.
  func exchange(
    _ encoded: [UInt8], _ opcode: ATTOpcode, _ handle: AttributeHandle
  ) async throws(GATTFault) -> ATTResponse {
    try await enter(requestGate)
    let answer = Answer()
    try await open(encoded, opcode, handle, for: .waiting(answer))
    if opcode == .exchangeMTURequest { state.withLock { $0.hasAskedMTU = true } }
    guard let result = await answer.wait() else {
      abandon(.waiting(answer))
      throw .cancelled
    }
    return try result.get()
  }

  /// Sends a request if no other request is open, and delivers the response to `responses`. Returns
  /// `false` if nothing was sent. Commands may follow immediately, because they do not wait for a
  /// response (3.3.2).
  func begin(
    _ encoded: [UInt8], _ opcode: ATTOpcode, _ handle: AttributeHandle, for responses: Responses
  ) async throws(GATTFault) -> Bool {
    guard requestGate.enterNow() else { return false }
    try await open(encoded, opcode, handle, for: .later(responses))
    return true
  }

  /// Marks the response to be discarded if it has not arrived yet.
  func abandon(_ recipient: ResponseRecipient) {
    state.withLock { state in
      if state.pending?.recipient == recipient { state.isAbandoned = true }
    }
  }

  /// Opens the slot and sends a request. The caller has entered `requestGate`; if the transport
  /// does not accept the request, this function leaves the gate.
  private func open(
    _ encoded: [UInt8], _ opcode: ATTOpcode, _ handle: AttributeHandle,
    for recipient: ResponseRecipient
  ) async throws(GATTFault) {
    let deadline = clock.now.advanced(by: transactionTimeout)
    let ended = state.withLock { state -> GATTFault? in
      if let ended = state.ended { return ended }
      state.slot.sent(opcode, deadline: deadline)
      state.pending = (handle, recipient)
      return nil
    }
    if let ended { throw ended }
    do throws(GATTFault) {
      try await transmit(encoded)
    } catch {
      // The PDU was rejected or the task was cancelled before the PDU was sent, so no response will
      // arrive.
      let wasPending = state.withLock { state in
        state.slot.withdraw()
        return state.pending.take() != nil
      }
      if wasPending { requestGate.leave() }
      throw error
    }
  }

  /// Sends a PDU that has no response, as soon as the transport accepts it.
  package func command(_ encoded: [UInt8]) async throws(GATTFault) {
    try await transmit(encoded)
  }

  /// Sends PDUs that have no response, one after the other, until `next` encodes no further PDU.
  ///
  /// - Parameters:
  ///   - next: encodes the next PDU into the buffer, and returns `false` at the end.
  ///   - afterWait: receives the time that a PDU had to wait for room in the transport.
  package func sendCommands(
    _ next: (inout [UInt8]) -> Bool, afterWait: (Duration) -> Void
  ) async throws(GATTFault) {
    var pdu: [UInt8] = []
    while next(&pdu) {
      if try offer(pdu) { continue }
      let began = clock.now
      try await sendWhenRoom(pdu)
      afterWait(began.duration(to: clock.now))
    }
  }

  private func transmit(_ bytes: [UInt8]) async throws(GATTFault) {
    if try offer(bytes) { return }
    try await sendWhenRoom(bytes)
  }

  /// Sends a PDU if the transport can accept it immediately; returns `false` if nothing was sent.
  /// Every PDU is offered first: the transport usually has space, and suspending the task for each
  /// PDU costs more than the system call (docs/performance.md).
  package func offer(_ encoded: [UInt8]) throws(GATTFault) -> Bool {
    guard sendGate.enterNow() else { return false }
    defer { sendGate.leave() }
    do throws(LinkLoss) { return try link.offer(encoded) } catch { throw fault(error) }
  }

  private func sendWhenRoom(_ bytes: [UInt8]) async throws(GATTFault) {
    try await enter(sendGate)
    defer { sendGate.leave() }
    do throws(LinkLoss) { try await link.send(bytes) } catch { throw fault(error) }
  }

  private func fault(_ loss: LinkLoss) -> GATTFault {
    loss == .cancelled ? .cancelled : state.withLock { $0.ended } ?? .linkLost(loss)
  }

  func enter(_ gate: SerialGate) async throws(GATTFault) {
    switch await gate.enter() {
    case .entered: return
    case .cancelled: throw .cancelled
    case .closed: throw state.withLock { $0.ended } ?? .linkLost(.closedLocally)
    case .full: throw .queueFull(limit: Self.requestersMaximum)
    }
  }

  // MARK: MTU

  /// Exchanges the MTU (3.4.2), once per connection: later calls return the current value. If the
  /// server responds with error 0x06, the current MTU is kept. If the host has already reported its
  /// receive MTU to the peer, the host sends the same value again instead of `desired`.
  package func exchangeMTU(_ desired: ATTMTU) async throws(GATTFault) -> Int {
    try await enter(settingsGate)
    defer { settingsGate.leave() }
    let (ours, isUnanswered) = state.withLock { state in
      (
        state.hasAskedMTU ? nil : state.receiveMTU.announce(preferring: desired),
        state.pending != nil
      )
    }
    guard let ours else {
      // Waiting for the response is useful even if the exchange was abandoned.
      if isUnanswered {
        try await enter(requestGate)
        requestGate.leave()
      }
      return mtu
    }
    do throws(GATTFault) {
      let response = try await request(.exchangeMTU(clientReceiveMTU: UInt16(ours.bytes)))
      guard case .exchangeMTU = response else { throw .mismatched(response) }
    } catch .refused(_, .requestNotSupported) {
      return mtu
    }
    return mtu
  }
}

extension GATTFault {
  static func mismatched(_ response: ATTResponse) -> GATTFault {
    .violation("the response \(response.opcode) does not match the request")
  }
}
