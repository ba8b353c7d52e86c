/// The reason why the host must close an ATT bearer (Core 5.4, Vol 3, Part F, 3.3).
package enum ATTFault: Error, Hashable, Sendable {
  /// The peer sent a PDU that cannot be decoded.
  case malformed(DecodeFault)
  /// The peer sent a response without an open request.
  case unsolicited(ATTOpcode)
  /// The peer did not respond to the request within the transaction timeout (3.3.3).
  case transactionTimedOut(ATTOpcode)
}

extension ATTFault: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformed(let fault): "malformed \(fault)"
    case .unsolicited(let opcode): "unsolicited \(opcode)"
    case .transactionTimedOut(let opcode): "no response to \(opcode) in time"
    }
  }
}

/// The single open request that an ATT bearer permits (Core 5.4, Vol 3, Part F, 3.3.2).
package struct RequestSlot: Sendable {
  /// The time after which a missing response or confirmation ends the bearer (3.3.3).
  package static let transactionTimeout = Duration.seconds(30)

  /// The action of the caller after a response.
  package enum OnResponse: Equatable, Sendable {
    case complete(ATTResponse)
    case disconnect(ATTFault)
  }

  private enum State {
    case idle
    case awaiting(ATTOpcode, deadline: LinkInstant)
    /// No further PDU may be exchanged on this bearer.
    case poisoned
  }

  private var state = State.idle

  package init() {}

  /// The deadline of the open request; `nil` if no request is open.
  package var deadline: LinkInstant? {
    switch state {
    case .awaiting(_, let deadline): deadline
    case .idle, .poisoned: nil
    }
  }

  /// Opens the slot. Traps if a request is open or the bearer has ended.
  package mutating func sent(_ opcode: ATTOpcode, deadline: LinkInstant) {
    guard case .idle = state else { preconditionFailure("a second request while one is open") }
    state = .awaiting(opcode, deadline: deadline)
  }

  /// Closes the slot because its request was not sent.
  package mutating func withdraw() {
    switch state {
    case .awaiting: state = .idle
    case .idle, .poisoned: break
    }
  }

  /// Closes the slot, and returns the action of the caller. An unsolicited response makes the slot
  /// unusable and ends the bearer.
  package mutating func received(_ response: ATTResponse) -> OnResponse {
    switch state {
    case .awaiting(let opcode, _) where response.answers(opcode):
      state = .idle
      return .complete(response)
    case .idle, .awaiting, .poisoned:
      state = .poisoned
      return .disconnect(.unsolicited(response.opcode))
    }
  }

  /// Returns whether the open request has passed its deadline at `now`. If so, the slot becomes
  /// unusable: no further request may be sent on this bearer (3.3.3).
  package mutating func expired(at now: LinkInstant) -> Bool {
    guard case .awaiting(_, let deadline) = state, deadline <= now else { return false }
    state = .poisoned
    return true
  }

  /// Makes the slot unusable because the bearer has ended.
  package mutating func poison() { state = .poisoned }
}
