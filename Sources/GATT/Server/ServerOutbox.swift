import OtaflashATT

/// What one connection still has to send, and in which order.
///
/// Responses go first. Values keep their order, but those behind an indication that has to wait for
/// the confirmation of an earlier one may pass it. While a PDU is being handled no value is given
/// out, so what a handler notifies follows the response to the write that caused it.
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

  /// When the open indication expires.
  var confirmationDeadline: LinkInstant? { unconfirmed?.deadline }
  var responseCount: Int { responses.count }

  mutating func handlingBegan() { isHandling = true }

  /// Takes what the session decided. Returns the events to report, in order.
  mutating func handlingEnded(_ effects: [ServerEffect]) -> [GATTServerEvent] {
    isHandling = false
    return effects.compactMap { effect in
      switch effect {
      case .respond(let response):
        responses.append(response)
        return nil
      case .mtuChanged(let mtu):
        self.mtu = mtu
        // They were for the client that asked for more; nothing is ever cut.
        values.removeAll { $0.value.count > mtu.valueSizeMaximum }
        return .mtuChanged(connection, mtu)
      case .configured(let handle, let configuration):
        configurations[handle] = configuration
        values.removeAll { $0.handle == handle && !configuration.contains($0.kind.needs) }
        return .configured(connection, handle, configuration)
      case .confirmed:
        // A confirmation of nothing changes nothing.
        guard let confirmed = unconfirmed.take() else { return nil }
        return .confirmed(connection, confirmed.handle)
      }
    }
  }

  mutating func offer(
    _ kind: Kind, _ handle: AttributeHandle, _ value: [UInt8]
  ) -> ValueOutcome {
    guard configurations[handle, default: []].contains(kind.needs) else { return .notSubscribed }
    guard value.count <= mtu.valueSizeMaximum else { return .tooLong(limit: mtu.valueSizeMaximum) }
    guard values.count < valuesMaximum else { return .queueFull(limit: valuesMaximum) }
    values.append(Outgoing(kind: kind, handle: handle, value: value))
    return .queued
  }

  /// Takes what may be sent now. An indication opens its transaction.
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
  /// What the client must have configured.
  fileprivate var needs: ClientConfiguration {
    switch self {
    case .notification: .notification
    case .indication: .indication
    }
  }
}
