import OtaflashATT
import Synchronization

/// The result of queueing a notification or an indication.
public enum ValueOutcome: Equatable, Sendable {
  /// The value is queued and will be sent, unless the link ends, the client unsubscribes, or the
  /// value becomes longer than a lower ATT_MTU permits.
  case queued
  /// No client is connected.
  case notConnected
  /// The client has not enabled notifications or indications of the characteristic.
  case notSubscribed
  /// The value is longer than one PDU can carry at the current MTU. Values are never truncated.
  case tooLong(limit: Int)
  /// The queue is full because the link is slower than the values: try again later, or omit the
  /// value.
  case queueFull(limit: Int)
}

/// An event of a server while it serves a client.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum GATTServerEvent: Equatable, Sendable {
  /// A client is connected.
  case connected(ConnectionID)
  /// The client has exchanged the MTU.
  case mtuChanged(ConnectionID, ATTMTU)
  /// The client has subscribed, or has unsubscribed if the configuration is empty.
  case configured(ConnectionID, AttributeHandle, ClientConfiguration)
  /// The client has confirmed an indication of this value.
  case confirmed(ConnectionID, AttributeHandle)
  /// The link to the client has ended.
  case disconnected(ConnectionID, LinkLoss)
}

/// A GATT server for one client at a time (Core 5.4, Vol 3, Part G). The attributes are kept across
/// connections; the MTU, subscriptions and prepared writes are not.
public final class GATTServer: Sendable {
  /// The time after which an unconfirmed indication ends the link (Part F, 3.3.3).
  public static let confirmationTimeout = RequestSlot.transactionTimeout
  /// The time limit of an asynchronous handler (`AttributeValue.asynchronous`). After this time the
  /// client has abandoned the request (Part F, 3.3.3), so the handler's task is cancelled.
  public static let handlerTimeout = RequestSlot.transactionTimeout
  /// The default capacity for waiting notifications and indications.
  public static let defaultValuesMaximum = 64
  /// The reason for ending a link whose client did not confirm an indication; errno 110 is
  /// ETIMEDOUT.
  public static let unconfirmed = LinkLoss.failed(
    errno: 110, reason: "The client did not confirm an indication within 30 s; the link was closed."
  )
  /// The maximum number of responses that wait for the transport; then the server stops reading.
  private static let responsesMaximum = 8

  private struct State {
    var table: AttributeTable
    var outbox: ServerOutbox?
    var connectionCount: UInt64 = 0
    var sender: OneShot<Void>?
    var receiver: OneShot<Void>?
    var watcher: OneShot<Void>?
  }

  private let receiveMTU: ATTMTU
  private let valuesMaximum: Int
  private let report: @Sendable (GATTServerEvent) -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - table: the attributes; `install` replaces them.
  ///   - receiveMTU: the maximum size of a PDU that this server accepts.
  ///   - valuesMaximum: the capacity for waiting notifications and indications, 1 or more.
  ///   - report: called on the serving task with each event; the closure may notify and indicate,
  ///   and must not block.
  public init(
    table: AttributeTable = AttributeTable(services: []), receiveMTU: ATTMTU = .maximum,
    valuesMaximum: Int = defaultValuesMaximum,
    report: @escaping @Sendable (GATTServerEvent) -> Void = { _ in }
  ) {
    precondition(valuesMaximum >= 1, "a queue holds one value or more")
    self.receiveMTU = receiveMTU
    self.valuesMaximum = valuesMaximum
    self.report = report
    state = Mutex(State(table: table))
  }

  /// Replaces all attributes. A table that is created after the server can have handlers that refer
  /// to the server. Traps while a client is connected.
  public func install(_ table: AttributeTable) {
    state.withLock { state in
      precondition(state.outbox == nil, "attributes can change only between connections")
      state.table = table
    }
  }

  /// Queues a notification (Part F, 3.4.7.1). May be called from any task and by handlers. A
  /// notification of a handler is sent after the response to the current request, unless the
  /// handler is asynchronous.
  @discardableResult
  public func notify(_ handle: AttributeHandle, _ value: [UInt8]) -> ValueOutcome {
    offer(.notification, handle, value)
  }

  /// Queues a notification even if the client has not enabled notifications, as an application can
  /// do on some stacks (NimBLE, `ble_gatts_notify_custom`).
  @discardableResult
  package func notifyUnasked(_ handle: AttributeHandle, _ value: [UInt8]) -> ValueOutcome {
    offer(.notification, handle, value, isUnasked: true)
  }

  /// Queues an indication (3.4.7.2). Indications are sent one at a time, each after the previous
  /// indication was confirmed. A confirmation is reported as `.confirmed`.
  @discardableResult
  public func indicate(_ handle: AttributeHandle, _ value: [UInt8]) -> ValueOutcome {
    offer(.indication, handle, value)
  }

  /// Serves one client until the link ends, closes the link, and returns the reason for the end.
  /// Traps if a client is already being served.
  ///
  /// - Parameters:
  ///   - link: the link to the client; closed at the end.
  ///   - clock: the clock for the time limits of confirmations and of asynchronous handlers.
  ///   - security: the security of the link for the complete connection, in addition to the
  ///     security that the link reports at each request.
  public func serve(
    _ link: any Link, clock: any LinkClock, security: AttributeSecurity = []
  ) async -> LinkLoss {
    let connection = open()
    report(.connected(connection))
    let cause = await withTaskGroup(of: LinkLoss.self, returning: LinkLoss.self) { group in
      group.addTask { await self.receiveAll(link, connection, security, clock) }
      group.addTask { await self.sendAll(link, clock) }
      group.addTask { await self.watchConfirmations(clock) }
      guard let first = await group.next() else { preconditionFailure("the group has children") }
      // Closing the link ends waits that cancellation does not end.
      link.close()
      group.cancelAll()
      await group.waitForAll()
      return first
    }
    state.withLock { state in
      state.outbox = nil
      state.sender = nil
      state.receiver = nil
      state.watcher = nil
    }
    report(.disconnected(connection, cause))
    return cause
  }

  private func open() -> ConnectionID {
    state.withLock { state in
      precondition(state.outbox == nil, "a server serves one client at a time")
      state.connectionCount += 1
      let connection = ConnectionID(rawValue: state.connectionCount)
      state.outbox = ServerOutbox(connection: connection, valuesMaximum: valuesMaximum)
      return connection
    }
  }

  private func offer(
    _ kind: ServerOutbox.Kind, _ handle: AttributeHandle, _ value: [UInt8],
    isUnasked: Bool = false
  ) -> ValueOutcome {
    let (outcome, sender) = state.withLock { state -> (ValueOutcome, OneShot<Void>?) in
      guard let outcome = state.outbox?.offer(kind, handle, value, isUnasked: isUnasked) else {
        return (.notConnected, nil)
      }
      return (outcome, state.sender.take())
    }
    sender?.fulfil(())
    return outcome
  }

  // MARK: Receiving

  private func receiveAll(
    _ link: any Link, _ connection: ConnectionID, _ security: AttributeSecurity,
    _ clock: any LinkClock
  ) async -> LinkLoss {
    var session = ServerSession(
      connection: connection, receiveMTU: receiveMTU, security: security)
    while true {
      do throws(LinkLoss) {
        let pdu = try await link.receive()
        session.security = security.union(link.security)
        await handle(pdu, with: &session, clock)
        guard await waitForRoom() else { return .cancelled }
      } catch {
        return error
      }
    }
  }

  private func handle(
    _ pdu: [UInt8], with session: inout ServerSession, _ clock: any LinkClock
  ) async {
    var isRepeated = false
    while true {
      var next = session
      var table = state.withLock { state in
        state.outbox?.handlingBegan()
        return state.table
      }
      // Handlers run outside the lock, because they may notify.
      let effects = next.received(pdu, in: &table, isRepeated: isRepeated)
      guard let handler = next.pendingHandler else {
        session = next
        return finish(effects, table)
      }
      finish([], nil)
      let deadline = clock.now.advanced(by: Self.handlerTimeout)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await handler() }
        group.addTask { await clock.pause(until: deadline) }
        await group.next()
        group.cancelAll()
      }
      isRepeated = true
    }
  }

  /// Applies the effects of a PDU, and reports the events.
  ///
  /// - Parameter table: the changed table; `nil` if an asynchronous handler must run first, so that
  ///   values may be sent before the response.
  private func finish(_ effects: [ServerEffect], _ table: AttributeTable?) {
    let (events, sender) = state.withLock { state in
      if let table { state.table = table }
      return (state.outbox?.handlingEnded(effects) ?? [], state.sender.take())
    }
    for event in events { report(event) }
    sender?.fulfil(())
  }

  /// Waits until the queue of responses has room; returns `false` if the task was cancelled.
  private func waitForRoom() async -> Bool {
    while true {
      let turn = state.withLock { state -> OneShot<Void>? in
        guard let outbox = state.outbox, outbox.responseCount >= Self.responsesMaximum else {
          return nil
        }
        let turn = OneShot<Void>()
        state.receiver = turn
        return turn
      }
      guard let turn else { return true }
      guard await turn.wait() != nil else { return false }
    }
  }

  // MARK: Sending

  private func sendAll(_ link: any Link, _ clock: any LinkClock) async -> LinkLoss {
    while true {
      let step = nextStep(confirmationDeadline: clock.now.advanced(by: Self.confirmationTimeout))
      switch step {
      case .send(let pdu):
        do throws(LinkLoss) { try await link.send(pdu.encoded) } catch { return error }
      case .wait(let turn):
        guard await turn.wait() != nil else { return .cancelled }
      }
    }
  }

  private enum SendStep {
    case send(ATTPDU)
    case wait(OneShot<Void>)
  }

  private func nextStep(confirmationDeadline: LinkInstant) -> SendStep {
    let (step, wake) = state.withLock { state -> (SendStep, [OneShot<Void>?]) in
      guard let pdu = state.outbox?.next(confirmationDeadline: confirmationDeadline) else {
        let turn = OneShot<Void>()
        state.sender = turn
        return (.wait(turn), [])
      }
      if case .indication = pdu { return (.send(pdu), [state.watcher.take()]) }
      return (.send(pdu), [state.receiver.take()])
    }
    for turn in wake { turn?.fulfil(()) }
    return step
  }

  // MARK: Confirmations

  /// Waits until an indication has not been confirmed within the time limit.
  private func watchConfirmations(_ clock: any LinkClock) async -> LinkLoss {
    while true {
      let (deadline, turn) = state.withLock { state -> (LinkInstant?, OneShot<Void>?) in
        if let deadline = state.outbox?.confirmationDeadline { return (deadline, nil) }
        let turn = OneShot<Void>()
        state.watcher = turn
        return (nil, turn)
      }
      if let deadline {
        guard await clock.pause(until: deadline) else { return .cancelled }
        let isOpen = state.withLock { $0.outbox?.confirmationDeadline == deadline }
        if isOpen { return Self.unconfirmed }
      } else if await turn?.wait() == nil {
        return .cancelled
      }
    }
  }
}
