/// The one request an ATT bearer may have open (Core 5.4, Vol 3, Part F, 3.3.2).
public struct RequestSlot: Equatable, Sendable {
  /// Why a response ends the bearer.
  public enum Violation: Error, Equatable, Sendable {
    /// A response, and no request is open.
    case unsolicited(ATTOpcode)
    /// A response to another request than the open one.
    case mismatched(ATTOpcode, request: ATTOpcode)
  }

  /// What the caller must do with a response.
  public enum OnResponse: Equatable, Sendable {
    case complete(ATTResponse)
    case disconnect(Violation)
    /// The bearer has ended; nothing counts any more.
    case ignore
  }

  private enum State: Equatable, Sendable {
    case idle
    case awaiting(ATTOpcode, deadline: LinkInstant)
    case poisoned
  }

  private var state = State.idle

  public init() {}

  /// When the open request expires; `nil` when none is open.
  public var deadline: LinkInstant? {
    guard case .awaiting(_, let deadline) = state else { return nil }
    return deadline
  }

  /// Opens the slot. Calling it while a request is open is a bug in the bearer.
  public mutating func sent(_ opcode: ATTOpcode, deadline: LinkInstant) {
    guard case .idle = state else { preconditionFailure("a second request while one is open") }
    state = .awaiting(opcode, deadline: deadline)
  }

  /// Takes back a request that never left: no response will come.
  public mutating func withdraw() {
    if case .awaiting = state { state = .idle }
  }

  /// Closes the slot, or poisons it: an unsolicited response ends the bearer.
  public mutating func received(_ response: ATTResponse) -> OnResponse {
    switch state {
    case .awaiting(let opcode, _) where response.answers(opcode):
      state = .idle
      return .complete(response)
    case .awaiting(let opcode, _):
      state = .poisoned
      return .disconnect(.mismatched(response.opcode, request: opcode))
    case .idle:
      state = .poisoned
      return .disconnect(.unsolicited(response.opcode))
    case .poisoned:
      return .ignore
    }
  }

  /// Whether the open request has expired at `now`; it poisons the slot: no more ATT on this bearer
  /// (3.3.3).
  public mutating func expired(at now: LinkInstant) -> Bool {
    guard case .awaiting(_, let deadline) = state, deadline <= now else { return false }
    state = .poisoned
    return true
  }

  /// Ends the slot together with its bearer.
  public mutating func poison() { state = .poisoned }
}

extension RequestSlot.Violation: CustomStringConvertible {
  public var description: String {
    switch self {
    case .unsolicited(let response): "it sent a response (\(response)) that nothing asked for"
    case .mismatched(let response, let request): "it answered \(request) with \(response)"
    }
  }
}
