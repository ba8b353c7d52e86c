import OtaflashATT
import Synchronization

/// The client end of one ATT bearer (Core 5.4, Vol 3, Part F, 3.3): one outstanding request, the
/// 30 s transaction timeout, indications confirmed, the peer's own requests answered.
///
/// Whoever makes a bearer must have exactly one task in `run()` as long as the link lives; every
/// other method may be called from any task. When the link ends, every pending wait fails at once.
package final class ATTBearer: Sendable {
  /// Answers waiting to be sent; the protocol allows one confirmation and one response at a time,
  /// so a peer that makes us owe more than this breaks it.
  private static let answersMaximum = 16
  /// Tasks that may wait for the request slot.
  private static let requestersMaximum = 256

  private typealias Answer = OneShot<Result<ATTResponse, GATTFault>>

  private struct State {
    var receiveMTU: ReceiveMTU
    var slot = RequestSlot()
    var pending: (handle: AttributeHandle, answer: Answer)?
    var mtu = ATTMTU.default
    var ended: GATTFault?
    var observers: [AttributeHandle: [NotificationObserver]] = [:]
    var serviceChangedHandle: AttributeHandle?
    var attributesChanged = 0
  }

  package let link: any Link
  private let clock: any LinkClock
  private let transactionTimeout: Duration
  private let state: Mutex<State>
  private let requestGate = SerialGate(waitersMaximum: ATTBearer.requestersMaximum)
  private let sendGate = SerialGate(waitersMaximum: ATTBearer.requestersMaximum)
  private let answers = Mailbox<ATTPDU>(capacity: ATTBearer.answersMaximum)

  /// - Parameters:
  ///   - receiveMTU: what a peer is told that asks before `exchangeMTU` does.
  ///   - transactionTimeout: 30 s by the specification; shorter only to test or diagnose.
  package init(
    link: any Link, clock: any LinkClock, receiveMTU: ATTMTU = .maximum,
    transactionTimeout: Duration = .seconds(30)
  ) {
    self.link = link
    self.clock = clock
    state = Mutex(State(receiveMTU: .intended(receiveMTU)))
    self.transactionTimeout = transactionTimeout
  }

  /// ATT_MTU in octets, valid for both directions.
  package var mtu: Int { state.withLock { $0.mtu.octets } }

  /// Why the bearer ended, or `nil` while it lives.
  package var ended: GATTFault? { state.withLock { $0.ended } }

  // MARK: The bearer's own task

  /// Serves the bearer until the link ends, and says why it ended.
  package func run() async -> GATTFault {
    let cause = await withTaskGroup(of: GATTFault.self, returning: GATTFault.self) { group in
      group.addTask { await self.receiveAll() }
      group.addTask { await self.sendAnswers() }
      group.addTask { await self.watchTransactions() }
      guard let first = await group.next() else { preconditionFailure("the group has children") }
      // Whatever ended one half ends the other; closing wakes what cancellation does not reach.
      end(because: first)
      group.cancelAll()
      return first
    }
    return cause
  }

  /// Closes the link. Every wait fails with the first cause given.
  package func end(because cause: GATTFault) {
    let (pending, observers) = state.withLock { state -> (Answer?, [NotificationObserver]) in
      if state.ended == nil { state.ended = cause }
      state.slot.poison()
      defer {
        state.pending = nil
        state.observers = [:]
      }
      return (state.pending?.answer, state.observers.values.flatMap { $0 })
    }
    pending?.fulfil(.failure(cause))
    for observer in observers { observer.finish(because: cause) }
    requestGate.close()
    sendGate.close()
    answers.finish()
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

  /// Wakes at least once a timeout, so a request can never outlive two of them.
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

  // MARK: What comes in

  /// Takes one PDU; a fault ends the bearer.
  private func handle(_ bytes: [UInt8]) -> GATTFault? {
    let pdu: ATTPDU
    do throws(DecodeFault) {
      pdu = try ATTPDU(decoding: bytes)
    } catch {
      return .violation("it sent a malformed PDU (\(error))")
    }
    switch pdu {
    case .response(let response):
      return complete(with: response)
    case .notification(let handle, let value):
      deliver(value, from: handle)
      return nil
    case .multipleNotification(let values):
      for entry in values { deliver(entry.value, from: entry.handle) }
      return nil
    case .indication(let handle, let value):
      deliver(value, from: handle)
      return owe(.confirmation)
    case .request(let request):
      return owe(.response(answer(to: request)))
    case .unknown(let opcode):
      let isCommand = opcode & 0x40 != 0
      return isCommand ? nil : owe(.response(.error(Self.refusal(of: opcode))))
    case .writeCommand, .signedWriteCommand, .confirmation:
      // Commands to a server we do not run, and a confirmation of nothing, change nothing (3.3.2).
      return nil
    }
  }

  private static func refusal(of opcode: UInt8) -> ErrorResponse {
    ErrorResponse(requestOpcode: opcode, handle: .none, code: .requestNotSupported)
  }

  private func owe(_ answer: ATTPDU) -> GATTFault? {
    answers.offer(answer) ? nil : .violation("it asked for more answers than the protocol allows")
  }

  /// The peer may discover *our* attributes; there are none (3.4.1, and 3.4.2 for the MTU).
  private func answer(to request: ATTRequest) -> ATTResponse {
    func error(_ handle: AttributeHandle, _ code: ATTErrorCode) -> ATTResponse {
      .error(ErrorResponse(requestOpcode: request.opcode.rawValue, handle: handle, code: code))
    }
    switch request {
    case .exchangeMTU(let theirs):
      let ours = state.withLock { state in
        let ours = state.receiveMTU.tell()
        state.mtu = .negotiated(ours, ATTMTU(clamping: Int(theirs)))
        return ours
      }
      return .exchangeMTU(serverReceiveMTU: UInt16(ours.octets))
    case .findInformation(let range), .findByTypeValue(let range, _, _),
      .readByType(let range, _), .readByGroupType(let range, _):
      return error(range.first, .attributeNotFound)
    case .read(let handle):
      return error(handle, .invalidHandle)
    case .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite,
      .executeWrite:
      return error(.none, .requestNotSupported)
    }
  }

  private func deliver(_ value: [UInt8], from handle: AttributeHandle) {
    let observers = state.withLock { state in
      if handle == state.serviceChangedHandle { state.attributesChanged += 1 }
      return state.observers[handle] ?? []
    }
    for observer in observers { observer.receive(value) }
  }

  private static func cause(_ fault: ATTFault) -> GATTFault {
    .violation("it sent a response that answers nothing (\(fault))")
  }

  private func complete(with response: ATTResponse) -> GATTFault? {
    let (outcome, pending) = state.withLock {
      state -> (RequestSlot.OnResponse, (handle: AttributeHandle, answer: Answer)?) in
      let outcome = state.slot.received(response)
      // The slot is dead from here on: a request that comes before `end` must be told so.
      if case .disconnect(let fault) = outcome { state.ended = state.ended ?? Self.cause(fault) }
      return (outcome, state.pending.take())
    }
    switch outcome {
    case .complete(.error(let error)):
      let handle = error.handle == .none ? pending?.handle ?? .none : error.handle
      pending?.answer.fulfil(.failure(.refused(handle, error.code)))
    case .complete(let response):
      pending?.answer.fulfil(.success(response))
    case .disconnect(let fault):
      let cause = Self.cause(fault)
      pending?.answer.fulfil(.failure(cause))
      return cause
    }
    requestGate.leave()
    return nil
  }

  // MARK: What goes out

  /// Sends a request and waits for its response. Requests from several tasks go out one at a time,
  /// in order. A caller that is cancelled stops waiting at once; its slot stays taken until the
  /// response has come, as the protocol demands.
  package func request(
    _ request: ATTRequest, on handle: AttributeHandle = .none
  ) async throws(GATTFault) -> ATTResponse {
    try await self.request(encoded: request.encoded, opcode: request.opcode, on: handle)
  }

  /// As above, for a request that was encoded by the caller.
  package func request(
    encoded: [UInt8], opcode: ATTOpcode, on handle: AttributeHandle
  ) async throws(GATTFault) -> ATTResponse {
    var asked: AttributeSecurity = []
    // Each turn asks for more than the one before, of the two things that there are to ask for.
    while true {
      do throws(GATTFault) {
        return try await exchange(encoded, opcode, handle)
      } catch .refused(let refusing, let code) {
        guard let wanted = link.security.union(asked).raised(after: code) else {
          throw .refused(refusing, code)
        }
        try await raiseSecurity(to: wanted, for: refusing, code)
        asked = wanted
      }
    }
  }

  /// Raises the link's security, for one who wants it before any attribute does.
  package func raiseSecurity(to wanted: AttributeSecurity) async throws(SecurityFault) {
    do throws(GATTFault) {
      // A link whose security is being raised takes no PDUs.
      try await enter(sendGate)
    } catch {
      throw error == .cancelled ? .cancelled : .linkLost(.closedLocally)
    }
    defer { sendGate.leave() }
    try await link.raiseSecurity(to: wanted)
  }

  private func raiseSecurity(
    to wanted: AttributeSecurity, for handle: AttributeHandle, _ code: ATTErrorCode
  ) async throws(GATTFault) {
    do throws(SecurityFault) {
      try await raiseSecurity(to: wanted)
    } catch {
      switch error {
      case .unsupported: throw .refused(handle, code)
      case .cancelled: throw .cancelled
      case .linkLost(let loss): throw .linkLost(loss)
      case .notPaired, .permissionDenied, .bondForgotten, .pairingFailed, .insufficient, .timedOut:
        throw .insecure(handle, code, error)
      }
    }
  }

  /// One request and its response.
  private func exchange(
    _ encoded: [UInt8], _ opcode: ATTOpcode, _ handle: AttributeHandle
  ) async throws(GATTFault) -> ATTResponse {
    try await enter(requestGate)
    let answer = Answer()
    let deadline = clock.now.advanced(by: transactionTimeout)
    let ended = state.withLock { state -> GATTFault? in
      if let ended = state.ended { return ended }
      state.slot.sent(opcode, deadline: deadline)
      state.pending = (handle, answer)
      return nil
    }
    if let ended { throw ended }
    do throws(GATTFault) {
      try await transmit(encoded)
    } catch {
      // Nothing was sent (the PDU was refused or the task cancelled): no response will come.
      let wasPending = state.withLock { state in
        state.slot.withdraw()
        return state.pending.take() != nil
      }
      if wasPending { requestGate.leave() }
      throw error
    }
    guard let result = await answer.wait() else { throw .cancelled }
    return try result.get()
  }

  /// Sends a PDU that has no response, as soon as the transport takes it.
  package func command(_ encoded: [UInt8]) async throws(GATTFault) {
    try await transmit(encoded)
  }

  /// Sends such a PDU if the transport takes it at once; `false` = nothing was sent. A task that has
  /// many to send suspends only where there is something to wait for.
  package func offer(_ encoded: [UInt8]) throws(GATTFault) -> Bool {
    guard sendGate.enterNow() else { return false }
    defer { sendGate.leave() }
    do throws(LinkLoss) { return try link.offer(encoded) } catch { throw fault(error) }
  }

  private func transmit(_ bytes: [UInt8]) async throws(GATTFault) {
    if try offer(bytes) { return }
    try await enter(sendGate)
    defer { sendGate.leave() }
    do throws(LinkLoss) { try await link.send(bytes) } catch { throw fault(error) }
  }

  private func fault(_ loss: LinkLoss) -> GATTFault {
    loss == .cancelled ? .cancelled : state.withLock { $0.ended } ?? .linkLost(loss)
  }

  private func enter(_ gate: SerialGate) async throws(GATTFault) {
    switch await gate.enter() {
    case .entered: return
    case .cancelled: throw .cancelled
    case .closed: throw state.withLock { $0.ended } ?? .linkLost(.closedLocally)
    case .full: throw .queueFull(limit: Self.requestersMaximum)
    }
  }

  // MARK: MTU and observers

  /// Exchange MTU (3.4.2). Error 0x06 keeps the MTU that is in force. A peer that has been told
  /// what we receive is told the same again, not `desired`.
  package func exchangeMTU(_ desired: ATTMTU) async throws(GATTFault) -> Int {
    let ours = state.withLock { $0.receiveMTU.tell(preferring: desired) }
    do throws(GATTFault) {
      let response = try await request(.exchangeMTU(clientReceiveMTU: UInt16(ours.octets)))
      guard case .exchangeMTU(let theirs) = response else { throw .mismatched(response) }
      state.withLock { $0.mtu = .negotiated(ours, ATTMTU(clamping: Int(theirs))) }
    } catch .refused(_, .requestNotSupported) {
      return mtu
    }
    return mtu
  }

  package func add(_ observer: NotificationObserver, on handle: AttributeHandle) throws(GATTFault) {
    let ended = state.withLock { state -> GATTFault? in
      if let ended = state.ended { return ended }
      state.observers[handle, default: []].append(observer)
      return nil
    }
    if let ended { throw ended }
  }

  package func remove(_ observer: NotificationObserver, from handle: AttributeHandle) {
    state.withLock { $0.observers[handle]?.removeAll { $0 === observer } }
  }

  /// Counts the Service Changed indications seen on `handle`: a client's cache is stale when the
  /// number moved.
  package var attributesChanged: Int { state.withLock { $0.attributesChanged } }

  package func watchServiceChanged(on handle: AttributeHandle) {
    state.withLock { $0.serviceChangedHandle = handle }
  }
}

extension GATTFault {
  static func mismatched(_ response: ATTResponse) -> GATTFault {
    .violation("it answered with \(response.opcode), which answers no such request")
  }
}
