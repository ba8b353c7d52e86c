import OtaflashATT

/// The PDUs that one connection has to send, in order.
///
/// Responses are sent first. Values keep their order, except that a notification may be sent before
/// an earlier indication that waits for the confirmation of the previous indication. No value is
/// sent while a PDU is handled, so notifications of a handler follow the response to the write that
/// caused them. An asynchronous handler is an exception: values may be sent while it runs.
struct ServerOutbox {
  enum Kind { case notification, indication }

  private struct Outgoing {
    let kind: Kind
    let handle: AttributeHandle
    let value: [UInt8]
  }

  let connection: ConnectionID
  private let valuesMaximum: Int
  private var mtu = ATTMTU.default
  private var configurations: [AttributeHandle: ClientConfiguration] = [:]
  private var responses: [ATTResponse] = []
  private var values: [Outgoing] = []
  private var unconfirmed: (handle: AttributeHandle, deadline: LinkInstant)?
  private var isHandling = false

  init(connection: ConnectionID, valuesMaximum: Int) {
    self.connection = connection
    self.valuesMaximum = valuesMaximum
  }

  /// The time at which the open indication expires.
  var confirmationDeadline: LinkInstant? { unconfirmed?.deadline }
  var responseCount: Int { responses.count }

  mutating func handlingBegan() { isHandling = true }

  /// Adds the session's effects; returns the events to report, in order.
  mutating func handlingEnded(_ effects: [ServerEffect]) -> [GATTServerEvent] {
    isHandling = false
    return effects.compactMap { effect in
      switch effect {
      case .respond(let response):
        responses.append(response)
        return nil
      case .mtuChanged(let mtu):
        self.mtu = mtu
        // These values no longer fit the MTU; values are never truncated.
        values.removeAll { $0.value.count > mtu.valueSizeMaximum }
        return .mtuChanged(connection, mtu)
      case .configured(let handle, let configuration):
        configurations[handle] = configuration
        values.removeAll { $0.handle == handle && !configuration.contains($0.kind.needs) }
        return .configured(connection, handle, configuration)
      case .confirmed:
        // A confirmation without an indication has no effect.
        guard let confirmed = unconfirmed.take() else { return nil }
        return .confirmed(connection, confirmed.handle)
      }
    }
  }

  mutating func offer(
    _ kind: Kind, _ handle: AttributeHandle, _ value: [UInt8], isUnasked: Bool = false
  ) -> ValueOutcome {
    guard isUnasked || configurations[handle, default: []].contains(kind.needs) else {
      return .notSubscribed
    }
    guard value.count <= mtu.valueSizeMaximum else { return .tooLong(limit: mtu.valueSizeMaximum) }
    guard values.count < valuesMaximum else { return .queueFull(limit: valuesMaximum) }
    values.append(Outgoing(kind: kind, handle: handle, value: value))
    return .queued
  }

  /// Removes and returns the next PDU that may be sent. An indication opens its transaction.
  mutating func next(confirmationDeadline: LinkInstant) -> ATTPDU? {
    if !responses.isEmpty { return .response(responses.removeFirst()) }
    guard !isHandling,
      let index = values.firstIndex(where: { $0.kind == .notification || unconfirmed == nil })
    else { return nil }
    let outgoing = values.remove(at: index)
    switch outgoing.kind {
    case .notification:
      return .notification(outgoing.handle, value: outgoing.value)
    case .indication:
      unconfirmed = (outgoing.handle, confirmationDeadline)
      return .indication(outgoing.handle, value: outgoing.value)
    }
  }
}

extension ServerOutbox.Kind {
  /// The configuration with which a client enables this kind of value.
  fileprivate var needs: ClientConfiguration {
    switch self {
    case .notification: .notification
    case .indication: .indication
    }
  }
}
