import OtaflashATT

/// Whoever gets the response to the open request.
enum ResponseRecipient: Equatable {
  /// A caller that waits for nothing else.
  case waiting(ATTBearer.Answer)
  /// One that does other things meanwhile.
  case later(ATTBearer.Responses)

  func take(_ result: Result<ATTResponse, GATTFault>) {
    switch self {
    case .waiting(let answer): answer.fulfil(result)
    case .later(let responses): responses.offer(result)
    }
  }

  static func == (one: Self, other: Self) -> Bool {
    switch (one, other) {
    case (.waiting(let one), .waiting(let other)): one === other
    case (.later(let one), .later(let other)): one === other
    case (.waiting, .later), (.later, .waiting): false
    }
  }
}

/// A Write Request that was sent, and whose sender goes on: with Write Commands, which an open
/// request does not hold up (Core 5.4, Vol 3, Part F, 3.3.2).
package struct PendingWrite: Sendable {
  private let responses: ATTBearer.Responses
  private let bearer: ATTBearer

  init(_ responses: ATTBearer.Responses, on bearer: ATTBearer) {
    self.responses = responses
    self.bearer = bearer
  }

  /// The outcome, once it is here; told once.
  package func poll() -> Result<Void, GATTFault>? {
    switch responses.poll() {
    case nil: nil
    case .success(.write): .success(())
    case .success(let other): .failure(.mismatched(other))
    case .failure(let fault): .failure(fault)
    }
  }

  /// Waits until the outcome is here, or a value in `values`; takes neither. The transaction
  /// timeout bounds it.
  ///
  /// - Throws: `.cancelled`.
  package func arrival(orOf values: NotificationStream) async throws(GATTFault) {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await responses.waitForArrival() }
      group.addTask { await values.waitForArrival() }
      await group.next()
      group.cancelAll()
    }
    if Task.isCancelled { throw .cancelled }
  }

  /// Nobody will ask for the outcome any more.
  package func abandon() { bearer.abandon(.later(responses)) }
}

extension GATTClient {
  /// Sends a Write Request that was encoded by the caller, if no other request is open, and returns
  /// when the transport has it; `nil` = nothing was sent. A refusal for want of security is told as
  /// any other.
  package func beginWrite(
    encoded: [UInt8], to characteristic: DiscoveredCharacteristic
  ) async throws(GATTFault) -> PendingWrite? {
    let responses = ATTBearer.Responses(capacity: 1)
    let isSent = try await bearer.begin(
      encoded, .writeRequest, characteristic.value, for: responses)
    return isSent ? PendingWrite(responses, on: bearer) : nil
  }
}
